//! One POST: bytes out, a reply or a failure in.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Url, redirect};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::reply::{HttpReply, LONGEST_ERROR};
use super::settings::{Endpoint, OpenAiError, OpenAiSettings};
use crate::escaping::printable;
use crate::model::providers::ModelList;
use crate::model::{Failure, FailureKind, ServiceTier, TimeIsUp, within};
use crate::values::{MOST_VALUES, too_many};

/// The longest accepted answer: models write less than a fiftieth of it, and a batch of vectors
/// takes two thirds. It bounds memory when a service misbehaves.
const LONGEST_ANSWER: usize = 16 << 20;

/// How much of each answer may be read concurrently with others. Batches of vectors are about this
/// long.
const READ_TOGETHER: usize = 2 << 20;

/// How many longer answers may be read at the same time; the others wait in their sockets. With 64
/// calls in flight, a misbehaving service could otherwise fill gigabytes.
const LONG_ANSWERS: usize = 2;

/// How long connecting may take. Otherwise, a host that drops packets would only be noticed after
/// the time of a whole answer.
const CONNECT: Duration = Duration::from_secs(10);

/// How long the list of a server's models may take.
const LISTING: Duration = Duration::from_secs(5);

pub(super) struct HttpClient {
    http: Client,
    pub(super) endpoint: Endpoint,
    pub(super) timeout: Duration,
    long_answers: Semaphore,
    /// Sent with every request.
    headers: HeaderMap,
    /// The field and the tier of service that are sent with every chat.
    tier: Option<(&'static str, &'static str)>,
}

/// What an API wants besides a request: the header that has the key, if it is not `Authorization`, other headers, and the field of a tier.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Surroundings {
    pub(super) key: Option<&'static str>,
    pub(super) others: &'static [(&'static str, &'static str)],
    /// The field of a request that has the tier of service, if the API has one.
    pub(super) tier: Option<&'static str>,
}

impl HttpClient {
    pub(super) fn new(
        settings: &OpenAiSettings,
        around: Surroundings,
    ) -> Result<Self, OpenAiError> {
        let endpoint = Endpoint::new(&settings.base_url, settings.key.as_ref(), around.key)?;
        if settings.timeout.is_zero() {
            return Err(OpenAiError::NoTimeout);
        }
        // The first provider wins: an application that installed another one earlier wanted that
        // one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("retold/", env!("CARGO_PKG_VERSION")))
            // A redirect would carry the key to another host.
            .redirect(redirect::Policy::none())
            // Every attempt is an event, so the client must not retry by itself.
            .retry(reqwest::retry::never())
            .connect_timeout(settings.timeout.min(CONNECT))
            .referer(false);
        if endpoint.loopback {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|e| OpenAiError::Client(innermost(&e.without_url())))?;
        let long_answers = Semaphore::new(LONG_ANSWERS);
        let others = around
            .others
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers = others.collect();
        let tier = settings.tier.and_then(ServiceTier::asked_for);
        let tier = around.tier.zip(tier);
        Ok(HttpClient { http, endpoint, timeout: settings.timeout, long_answers, headers, tier })
    }

    /// A chat as it is sent: in the tier of service of this client, unless it names one itself.
    pub(super) fn in_tier<'b>(&self, body: &'b Value) -> Cow<'b, Value> {
        match (self.tier, body) {
            (Some((field, tier)), Value::Object(fields)) if !fields.contains_key(field) => {
                let mut sent = fields.clone();
                sent.insert(field.to_owned(), tier.into());
                Cow::Owned(Value::Object(sent))
            }
            _ => Cow::Borrowed(body),
        }
    }

    /// Sends a body and waits for the whole reply, within the time limit of one attempt.
    pub(super) async fn post<S: AsRef<str>>(
        &self,
        function: &[S],
        body: &Value,
    ) -> Result<HttpReply, Failure> {
        let request = self.request(Method::POST, self.endpoint.url(function)).json(body);
        let exchange = self.send(request);
        match within(self.timeout, exchange).await {
            Ok(result) => result,
            Err(TimeIsUp) => Err(Failure::new(
                FailureKind::Timeout,
                format!(
                    "{} did not answer in full within {} s",
                    self.endpoint.source,
                    self.timeout.as_secs_f64()
                ),
            )),
        }
    }

    /// The models that the server lists, if it does and this one is not among them. A list that cannot be had soon says
    /// nothing.
    pub(super) async fn models_without(&self, list: ModelList, model: &str) -> Option<Vec<String>> {
        let listed = within(LISTING.min(self.timeout), self.fetch_names(list)).await.ok()??;
        (!ModelList::has(&listed, model)).then_some(listed)
    }

    async fn fetch_names(&self, list: ModelList) -> Option<Vec<String>> {
        let mut url = self.endpoint.url(list.path);
        if let Some((name, value)) = list.page {
            url.query_pairs_mut().append_pair(name, value);
        }
        let request = self.request(Method::GET, url);
        let mut response = request.send().await.ok()?.error_for_status().ok()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST_ANSWER {
                return None;
            }
        }
        if too_many(&bytes) {
            return None;
        }
        ModelList::names(&serde_json::from_slice(&bytes).ok()?)
    }

    /// A request with the key and the headers that each one needs.
    pub(super) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url).headers(self.headers.clone());
        match &self.endpoint.authorization {
            Some((name, value)) => request.header(name, value.clone()),
            None => request,
        }
    }

    /// Sends a request and waits for the whole reply.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<HttpReply, Failure> {
        let mut response = request.send().await.map_err(|e| self.not_sent(e))?;
        let status = response.status();
        tracing::debug!(status = status.as_u16(), "the service replied");
        let is_answer = status.is_success();
        let limit = if is_answer { LONGEST_ANSWER } else { LONGEST_ERROR };
        let announced = response
            .content_length()
            .map_or(LONGEST_ANSWER, |n| n.try_into().unwrap_or(usize::MAX));
        if is_answer && announced > LONGEST_ANSWER {
            return Err(too_long(status.as_u16()));
        }
        let mut bytes = Vec::new();
        let mut turn = None;
        loop {
            if turn.is_none() && bytes.len() > READ_TOGETHER {
                // The semaphore is never closed, so a permit always comes.
                turn = self.long_answers.acquire().await.ok();
                // Reserve all of it: a growing list exists twice while it is copied.
                bytes.reserve_exact(announced.min(limit).saturating_sub(bytes.len()));
            }
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(e) if is_answer => {
                    return Err(self.broke_off(status.as_u16(), bytes.len(), e));
                }
                // The status of an error is enough, whatever happens to its text.
                Err(_) => break,
            };
            let room = limit - bytes.len();
            if chunk.len() > room {
                if is_answer {
                    return Err(too_long(status.as_u16()));
                }
                bytes.extend_from_slice(&chunk[..room]);
                break;
            }
            bytes.extend_from_slice(&chunk);
        }
        if too_many(&bytes) {
            let what = format!("the answer has more than {MOST_VALUES} values");
            return Err(too_much(status.as_u16(), what));
        }
        Ok(HttpReply {
            status: status.as_u16(),
            headers: response.headers().clone(),
            body: bytes,
            at: now(),
        })
    }

    pub(super) fn not_sent(&self, error: reqwest::Error) -> Failure {
        if is_untrusted(&error) {
            let source = &self.endpoint.source;
            let what = format!(
                "the certificate of {source} is not trusted (name the file of a private \
                 authority in SSL_CERT_FILE)"
            );
            let kind = FailureKind::Untrusted;
            return Failure { kind, ..self.connection(None, &what, error) };
        }
        let what = if error.is_connect() {
            format!("cannot connect to {}", self.endpoint.source)
        } else {
            format!("{} broke the connection before it answered", self.endpoint.source)
        };
        self.connection(None, &what, error)
    }

    pub(super) fn broke_off(&self, status: u16, received: usize, error: reqwest::Error) -> Failure {
        let source = &self.endpoint.source;
        let what = format!("{source} broke off its answer after {received} bytes");
        self.connection(Some(status), &what, error)
    }

    fn connection(&self, status: Option<u16>, what: &str, error: reqwest::Error) -> Failure {
        let cause = self.endpoint.secrets.strike(&innermost(&error.without_url()));
        let message = format!("{what}: {}", printable(&cause, 300));
        Failure { kind: FailureKind::Connection, status, message, retry_after: None }
    }
}

fn too_long(status: u16) -> Failure {
    too_much(status, format!("the answer is longer than {} MiB", LONGEST_ANSWER >> 20))
}

fn too_much(status: u16, message: String) -> Failure {
    Failure { kind: FailureKind::Malformed, status: Some(status), message, retry_after: None }
}

/// Whether a handshake failed because of the server's certificate; a retry cannot help.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        // An I/O error does not return its inner error as its source.
        let held = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = match held {
            Some(held) => held.downcast_ref(),
            None => error.downcast_ref(),
        };
        if let Some(rustls::Error::InvalidCertificate(_)) = tls {
            return true;
        }
        next = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    false
}

/// The last cause of an error, which is the informative one.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a Retry-After that is a date means nothing without the time of day; the wait that \
              comes of it is recorded, and nothing else is"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
