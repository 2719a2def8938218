//! A program's requests by batch: they are held while the program runs, and go into batches when it has been stopped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use retold::id::{CallPath, Seq};
use retold::model::openai::OpenAiSettings;
use retold::model::openai::batches::{BatchReply, BatchServer};
use retold::model::providers::{PostedRequest, Problem, StudyAccess};
use retold::model::{
    Ask, Batching, Failure, FailureKind, HTTP, Model, ModelInfo, NamedUrl, Response,
};
use retold::prompt::Request;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::heads::json_header;
use crate::incoming::Incoming;
use crate::lock::lock;
use crate::masks::Masks;
use crate::read::UpstreamReading;
use crate::restored_request::{RestoredBody, RestoredRequest, restore};
use crate::session::Session;
use crate::stored_answer::StoredAnswer;
use crate::transmission::Transmission;
use crate::upstream::Upstreams;
use crate::wire_request::WireRequest;

/// How long a batch may take to be sent.
const SENDING: Duration = Duration::from_secs(900);

/// The requests that a session holds.
#[derive(Default)]
pub(crate) struct HeldRequests(Mutex<HeldState>);

#[derive(Default)]
struct HeldState {
    /// Their `RequestSent`.
    questions: Vec<Seq>,
    /// The servers that are to have them, by upstream, with the program's own keys.
    servers: BTreeMap<String, BatchServer>,
    /// When the last one came.
    last: Option<Instant>,
}

impl HeldRequests {
    /// The server that takes a request by batch, with the key that came with the request; `None` if it is to be asked at once. What is
    /// streamed is: who reads it as it comes does not wait for a day.
    pub(crate) fn server_for(
        &self,
        incoming: &Incoming,
        asked: &WireRequest,
        upstreams: &Upstreams,
    ) -> Option<BatchServer> {
        let is_plain = incoming.method == Method::POST && incoming.query.is_none();
        let is_streamed = asked.key.call.as_str().ends_with("/stream");
        if !is_plain || is_streamed || incoming.is_led {
            return None;
        }
        let access = asked.dialect.study()?;
        takes_path(access, &incoming.path)?;
        // A header that changes answers cannot be sent with a line.
        let address = &asked.request.body()["http"]["headers"];
        let is_usual = |(name, value): (&String, &Value)| {
            access.headers.iter().any(|(usual, is)| name == usual && value == is)
        };
        if !address.as_object().into_iter().flatten().all(is_usual) || !is_stored(incoming, asked) {
            return None;
        }
        let mut state = lock(&self.0);
        if let Some(server) = state.servers.get(&incoming.upstream) {
            return Some(server.clone());
        }
        let settings = OpenAiSettings {
            base_url: NamedUrl::from_user(upstreams.base(&incoming.upstream)?.as_str()),
            key: key_in(&incoming.headers, access).map(Into::into),
            timeout: SENDING,
            tier: None,
        };
        let server = BatchServer::new(access, &settings).ok()?;
        state.servers.insert(incoming.upstream.clone(), server.clone());
        Some(server)
    }

    /// Holds a request.
    pub(crate) fn hold(&self, question: Seq) {
        let mut state = lock(&self.0);
        state.questions.push(question);
        state.last = Some(Instant::now());
    }

    /// How many are held, and when the last one came.
    pub(crate) fn count(&self) -> (usize, Option<Instant>) {
        let state = lock(&self.0);
        (state.questions.len(), state.last)
    }
}

/// Whether a request is stored as it came, as far as it counts: a line is made of what is stored. Where a key or a person's name was taken
/// out, the server would be asked something else.
fn is_stored(incoming: &Incoming, asked: &WireRequest) -> bool {
    let came = incoming.plain_body().and_then(|body| serde_json::from_slice::<Value>(&body).ok());
    let stored = restored(&asked.request).map(|stored| stored.body);
    match (came, stored) {
        (Some(came), Some(RestoredBody::Json(Value::Object(fields)))) => {
            fields.iter().all(|(name, value)| came.get(name) == Some(value))
        }
        _ => false,
    }
}

/// Whether a path, below its upstream, is one whose function takes batches.
fn takes_path(access: &StudyAccess, path: &str) -> Option<()> {
    let is_taken = match access.kind {
        "openai" => path == "/chat/completions",
        "responses" => path == "/responses",
        "anthropic" => path == "/v1/messages",
        "gemini" => path.starts_with("/v1beta/models/") && path.ends_with(":generateContent"),
        _ => false,
    };
    is_taken.then_some(())
}

/// The key in the headers of a request.
fn key_in(headers: &HeaderMap, access: &StudyAccess) -> Option<String> {
    let value = |name: &str| headers.get(name)?.to_str().ok();
    match access.key_header {
        Some(name) => value(name).map(str::to_owned),
        None => value(header::AUTHORIZATION.as_str())?
            .strip_prefix("Bearer ")
            .map(|key| key.trim().to_owned()),
    }
}

/// What a session holds, when its program has been stopped: a model that is asked by batch alone.
pub struct HeldLayer {
    /// The `RequestSent` of each request, ascending.
    pub questions: Vec<Seq>,
    upstreams: BTreeMap<String, HeldUpstream>,
}

struct HeldUpstream {
    server: BatchServer,
    session: Arc<Session>,
}

impl HeldLayer {
    /// What a session holds; `None` if it holds nothing.
    pub fn of(session: &Arc<Session>) -> Option<Self> {
        let mut state = lock(&session.held.as_ref()?.0);
        let mut questions = std::mem::take(&mut state.questions);
        questions.sort_unstable();
        questions.dedup();
        if questions.is_empty() {
            return None;
        }
        let of = |(name, server): (&String, &BatchServer)| {
            let (server, session) = (server.clone(), session.clone());
            (name.clone(), HeldUpstream { server, session })
        };
        let upstreams = state.servers.iter().map(of).collect();
        drop(state);
        Some(HeldLayer { questions, upstreams })
    }
}

/// The HTTP request that a held one was: it was not streamed.
fn restored(request: &Request) -> Option<RestoredRequest> {
    restore(request, &CallPath::new("held").ok()?)
}

impl Model for HeldLayer {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "upstream".to_owned(), source: None, simulated: false }
    }

    fn answer<'a>(&'a self, _ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let failure = Failure::new(FailureKind::NoAnswer, "the program has been stopped");
        async move { Err(failure) }.boxed()
    }

    fn batching(&self, request: &Request) -> Option<&dyn Batching> {
        let upstream = self.upstreams.get(&restored(request)?.upstream)?;
        Some(upstream)
    }
}

impl Batching for HeldUpstream {
    fn server(&self) -> &BatchServer {
        &self.server
    }

    fn posted(&self, request: &Request) -> Result<PostedRequest, Failure> {
        let not_stored = || Failure::new(FailureKind::Rejected, "its body is not stored");
        let RestoredRequest { path, body, .. } = restored(request).ok_or_else(not_stored)?;
        let RestoredBody::Json(body) = body else { return Err(not_stored()) };
        let path = path.trim_start_matches('/').split('/').map(str::to_owned).collect();
        Ok(PostedRequest { path, body })
    }

    fn answer_in(&self, request: &Request, reply: &BatchReply) -> Result<Response, Failure> {
        let (kept, reading) = self.read(request, reply)?;
        match reading {
            UpstreamReading::Answer(mut response) => {
                let StoredAnswer { kept, body, chunks, .. } = kept;
                let kept = kept.with_body(&body, &chunks, response.content.text());
                response.extra.insert(HTTP.to_owned(), json!(kept));
                Ok(*response)
            }
            UpstreamReading::Failed { failure, .. } => Err(failure),
        }
    }

    fn response_to(
        &self,
        request: &Request,
        reply: Option<&BatchReply>,
        failure: &Failure,
    ) -> Option<Value> {
        if let Some(reply) = reply
            && let Ok((StoredAnswer { kept, body, chunks, .. }, _)) = self.read(request, reply)
        {
            return Some(json!(kept.with_body(&body, &chunks, "")));
        }
        let asked = self.asked(request)?;
        let status = failure.status.unwrap_or(504);
        let problem = Problem { status, code: "retold_batch", message: &failure.message };
        let body = asked.dialect.error(&problem).to_string();
        let kept =
            Transmission { again: true, status, headers: json_header(), ..Transmission::default() };
        Some(json!(kept.with_body(body.as_bytes(), &[], "")))
    }
}

impl HeldUpstream {
    fn asked(&self, request: &Request) -> Option<WireRequest> {
        Incoming::from(restored(request)?).wire_request(&self.session.rules).ok()
    }

    /// A reply as the answer to a request that was sent alone.
    fn read(
        &self,
        request: &Request,
        reply: &BatchReply,
    ) -> Result<(StoredAnswer, UpstreamReading), Failure> {
        let unread = || Failure::new(FailureKind::Malformed, "its reply is not HTTP");
        let asked = self.asked(request).ok_or_else(unread)?;
        let status = StatusCode::from_u16(reply.status).map_err(|_| unread())?;
        let path = restored(request).map(|it| it.path).unwrap_or_default();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let kept_headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let (status_code, masks) = (reply.status, Masks::new(&headers, None));
        // The program sees none of the attempts before.
        let kept = Transmission {
            again: true,
            status: status_code,
            headers: kept_headers,
            ..Transmission::default()
        };
        let redaction = &self.session.rules.redaction;
        let kept = StoredAnswer::new(kept, &path, &reply.body, Vec::new(), &masks, redaction);
        Ok(kept.whole(&asked, status, &headers, &masks))
    }
}
