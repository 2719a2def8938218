//! From a program's HTTP request to what it asks: its prompt, its call, its key.

use std::borrow::Cow;
use std::sync::Mutex;

use bytes::Bytes;
use data_encoding::BASE64;
use hyper::http::Method;
use retold::escaping::printable;
use retold::event::{BodySide, Labels};
use retold::id::{CallPath, IdError, Seq};
use retold::model::providers::{self, Dialect, OTHER, ReaderFault, try_read};
use retold::model::{exact_json, query_without_keys};
use retold::prompt::{Api, Request, RequestError};
use retold::run::{Recorder, RecorderError};
use serde_json::{Map, Value, json};

use crate::incoming::{CALL, Incoming, LABELS};
use crate::key::Key;
use crate::limits::LONGEST_REQUEST;
use crate::lock::lock;
use crate::long_body::{self, record_parts};
use crate::masks::{Masks, replace_all};
use crate::reach::only;
use crate::replay_queue::Ticket;
use crate::restored_request::{RestoredRequest, restore};
use crate::rule_error::RuleError;
use crate::rules::Rules;
use crate::stored_fields::{ADDRESS, INTEGERS};
use crate::tool_links::ToolLinks;

/// How often a client has tried before: sent by the SDKs of OpenAI, Anthropic and others.
const RETRY: &str = "x-stainless-retry-count";

/// The longest name of a tool in the name of a call, in characters.
const LONGEST_TOOL: usize = 64;

/// The longest address that is shown, in characters.
const LONGEST_SHOWN: usize = 200;

/// What a request asks.
#[derive(Debug, Clone)]
pub struct WireRequest {
    /// The API that it speaks; the request may be stored unread all the same.
    pub dialect: &'static dyn Dialect,
    /// What is stored.
    pub request: Request,
    /// By what its answers are found again.
    pub key: Key,
    /// How often the client has tried before, if it says so.
    pub retry: Option<u32>,
    /// What its call belongs to, as the program says.
    pub labels: Labels,
    /// What its body had besides what is stored: see [`Transmission::uncounted`].
    ///
    /// [`Transmission::uncounted`]: crate::transmission::Transmission::uncounted
    pub(crate) uncounted: Map<String, Value>,
    /// Why it is stored unread, if its reader stopped at it; its answer says so.
    pub(crate) fault: Option<ReaderFault>,
    /// What must not be stored of its answers.
    pub(crate) masks: Masks,
    /// Its body, if it is too long for a prompt, which has its digest instead.
    pub(crate) long: Option<Bytes>,
}

/// Why a request cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum AskedError {
    /// A name that is not one.
    #[error("{CALL}: {0}")]
    Call(#[from] IdError),
    /// A name whose encoding is not known.
    #[error("{CALL}: the name of a call is ASCII or UTF-8")]
    NotText,
    /// More than one name.
    #[error("{CALL}: a request belongs to one call")]
    Calls,
    /// Labels that are not an object of texts.
    #[error("{LABELS}: labels are a JSON object of texts, as in {{\"participant\": \"p7\"}}: {0}")]
    Labels(String),
    /// A request without canonical form, even as text.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A request to which the rules cannot be applied.
    #[error(transparent)]
    Rules(#[from] RuleError),
}

impl WireRequest {
    /// Records that it is asked. The event becomes durable with the next one that is.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub(crate) fn record(
        &self,
        links: &Mutex<ToolLinks>,
        recorder: &mut Recorder,
        ticket: &Ticket,
    ) -> Result<Seq, RecorderError> {
        let because = lock(links).because(&self.request);
        let (call, request, labels) =
            (ticket.key.call.clone(), self.request.clone(), self.labels.clone());
        let seq = recorder.record_question(call, ticket.sample, request, because, labels)?;
        if let Some(body) = &self.long {
            record_parts(recorder, seq, BodySide::Request, body)?;
        }
        Ok(seq)
    }

    /// Method, upstream and path, as far as they are stored.
    pub(crate) fn request_line(&self) -> String {
        if let Some(tool) = self.request.tool() {
            return printable(&format!("the tool {tool}"), LONGEST_SHOWN);
        }
        match restore(&self.request, &self.key.call) {
            Some(RestoredRequest { method, upstream, path, .. }) => printable(
                &format!("{method} {upstream}/{}", path.trim_start_matches('/')),
                LONGEST_SHOWN,
            ),
            None => printable(self.key.call.as_str(), LONGEST_SHOWN),
        }
    }
}

/// A request as it is stored.
pub(crate) struct StoredRequest {
    /// The API that it speaks.
    pub(crate) dialect: &'static dyn Dialect,
    /// What is stored.
    pub(crate) request: Request,
    /// Whether its answer is asked for as a stream.
    pub(crate) is_streamed: bool,
    /// The fields of its body that nothing is stored of, without texts.
    pub(crate) uncounted: Map<String, Value>,
    /// Why it is not in the form of its API, if the reader of that stopped at it.
    fault: Option<ReaderFault>,
    /// Its body, if it is too long for a prompt.
    long: Option<Bytes>,
}

/// The fields of a body that nothing is stored of, without those that have texts: who is asking may be
/// among these.
fn uncounted_fields(
    fields: &Map<String, Value>,
    dialect: &dyn Dialect,
    request: &Request,
    path: &str,
    is_streamed: bool,
) -> Map<String, Value> {
    let stored = request.body();
    // That it is a stream, if the API says so in the body.
    let added = dialect.body(Map::new(), path, is_streamed);
    let is_one = |(name, value): &(&String, &Value)| {
        let is_known =
            stored.get(name.as_str()).is_some() || added.get(name.as_str()) == Some(*value);
        !is_known && is_simple(value, DEEPEST)
    };
    let found: Vec<_> = fields.iter().filter(is_one).collect();
    if found.is_empty() {
        return Map::new();
    }
    // What an API has elsewhere in a prompt is stored.
    let prompt = stored.as_object().cloned().unwrap_or_default();
    let restored = dialect.body(prompt, path, is_streamed);
    let left = found.into_iter().filter(|(name, _)| !restored.contains_key(*name));
    left.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// How deep a field that does not count may be nested.
const DEEPEST: usize = 4;

/// Whether a value has no texts, and nothing that a log could not hold as it is: integers beyond 2^53 and deep nesting.
fn is_simple(value: &Value, deepest: usize) -> bool {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let within = deepest.checked_sub(1);
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => number.as_f64().is_some_and(|value| value.abs() < EXACT),
        Value::String(_) => false,
        Value::Array(items) => {
            within.is_some_and(|within| items.iter().all(|item| is_simple(item, within)))
        }
        Value::Object(fields) => {
            within.is_some_and(|within| fields.values().all(|value| is_simple(value, within)))
        }
    }
}

/// Whether this is how bytes are stored.
fn is_packed(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key("base64"))
}

impl Incoming {
    /// What it asks.
    ///
    /// # Errors
    /// [`AskedError`].
    pub fn wire_request(&self, rules: &Rules) -> Result<WireRequest, AskedError> {
        let (bare, masks) = self.without_keys();
        let stored = rules.redaction.request(&bare);
        let StoredRequest { dialect: form, request, is_streamed, uncounted, fault, long } =
            stored.stored_request()?;
        let retry = self.header(RETRY).and_then(|count| count.trim().parse().ok());
        let prompt = rules.key(&request)?;
        let end = if is_streamed { "/stream" } else { "" };
        let call = match stored.call_name()? {
            Some(name) => CallPath::new(format!("{name}{end}"))?,
            None => {
                let form = match request.tool() {
                    Some(tool) => format!("tool.{}", plain_name(tool)),
                    None => form.name().to_owned(),
                };
                CallPath::new(format!("{form}/{}{end}", prompt.short(16)))?
            }
        };
        let labels = rules.redacted_labels(stored.labels()?);
        // An answer is read by what its path says, also if the request is not JSON but a form.
        let is_posted = self.method == Method::POST && !self.body.is_empty();
        let is_unread = form.name() == OTHER.name();
        let dialect = if is_posted && is_unread { providers::at(&self.path) } else { form };
        let key = Key { call, prompt };
        Ok(WireRequest { dialect, request, key, retry, labels, uncounted, fault, masks, long })
    }

    /// A request whose body is not recorded, and a word for why not. It is told in the words of its API.
    ///
    /// # Errors
    /// [`AskedError`].
    pub fn asked_without_body(&self, rules: &Rules, why: &str) -> Result<WireRequest, AskedError> {
        let (bare, masks) = self.without_keys();
        let mut address = rules.redaction.request(&bare).address(&OTHER);
        address.insert("left_out".to_owned(), why.into());
        let request = other(address, Vec::new())?;
        let prompt = request.hash();
        let call = CallPath::new(format!("{}/{}", OTHER.name(), prompt.short(16)))?;
        let dialect = providers::at(&self.path);
        let (key, labels) = (Key { call, prompt }, Labels::default());
        let (retry, uncounted, fault, long) = (None, Map::new(), None, None);
        Ok(WireRequest { dialect, request, key, retry, labels, uncounted, fault, masks, long })
    }

    /// The name of its call, if the program gave it one.
    fn call_name(&self) -> Result<Option<&str>, AskedError> {
        let mut all = self.headers.get_all(CALL).iter();
        let Some(value) = all.next() else { return Ok(None) };
        if all.next().is_some() {
            return Err(AskedError::Calls);
        }
        std::str::from_utf8(value.as_bytes()).map(Some).map_err(|_| AskedError::NotText)
    }

    /// What its call belongs to.
    fn labels(&self) -> Result<Labels, AskedError> {
        let given =
            only(&self.headers, LABELS).map_err(|said| AskedError::Labels(said.to_owned()))?;
        let Some(given) = given else { return Ok(Labels::default()) };
        serde_json::from_str(given)
            .map_err(|error| AskedError::Labels(printable(&error.to_string(), 200)))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The request, which has no keys, as it is stored.
    ///
    /// # Errors
    /// [`AskedError`].
    pub(crate) fn stored_request(&self) -> Result<StoredRequest, AskedError> {
        let body = self.plain_body().unwrap_or_else(|| self.body.clone());
        if body.len() > LONGEST_REQUEST {
            return self.long_request(&body);
        }
        let (parsed, integers) = match exact_json(&body) {
            Some((value, integers)) => (Some(value), integers),
            None => (None, Vec::new()),
        };
        let mut fault = None;
        if self.method == Method::POST
            && let Some(Value::Object(fields)) = &parsed
            && !fields.contains_key(ADDRESS)
        {
            let dialect = providers::of_body(&self.path, fields);
            match try_read(dialect.name(), || self.read_by(dialect, fields, &integers)) {
                Ok(Some(stored)) => return Ok(stored),
                Ok(None) => {}
                Err(stopped) => fault = Some(stopped),
            }
        }
        let other_api = |request, is_streamed| StoredRequest {
            dialect: &OTHER,
            request,
            is_streamed,
            uncounted: Map::new(),
            fault,
            long: None,
        };
        let is_streamed =
            parsed.as_ref().is_some_and(|body| body["stream"].as_bool() == Some(true));
        let mut address = self.address(&OTHER);
        address.insert("method".to_owned(), self.method.as_str().into());
        let said = match parsed {
            _ if body.is_empty() => return Ok(other_api(other(address, Vec::new())?, false)),
            // JSON that would be stored as another body is: a text, or bytes.
            Some(value) if value.is_string() || is_packed(&value) => self.as_text(&body),
            Some(value) => {
                name_integers(&mut address, integers);
                value
            }
            None => self.as_text(&body),
        };
        let messages = vec![json!({"role": "user", "content": said})];
        let request = other(address.clone(), messages).or_else(|_| {
            // Nested too deeply, for example.
            let text = String::from_utf8_lossy(&body).into_owned();
            other(address, vec![json!({"role": "user", "content": text})])
        })?;
        Ok(other_api(request, is_streamed))
    }

    /// A request whose prompt has the digest of its body.
    fn long_request(&self, body: &[u8]) -> Result<StoredRequest, AskedError> {
        let mut address = self.address(&OTHER);
        address.insert("method".to_owned(), self.method.as_str().into());
        let body = self.with_fixed_boundary(body);
        let message = json!({"role": "user", "content": long_body::in_prompt(&body)});
        Ok(StoredRequest {
            dialect: &OTHER,
            request: other(address, vec![message])?,
            is_streamed: false,
            uncounted: Map::new(),
            fault: None,
            long: Some(body.into_owned().into()),
        })
    }

    /// The request in the form of its API; `None` if it is not one of it, or has no canonical form: it is kept as what it is.
    fn read_by(
        &self,
        dialect: &'static dyn Dialect,
        fields: &Map<String, Value>,
        integers: &[String],
    ) -> Option<StoredRequest> {
        if dialect.name() == OTHER.name() {
            return None;
        }
        let is_streamed = dialect.is_streamed(&self.path, fields);
        let (api, typed) = self.typed_body(dialect, fields.clone(), integers)?;
        let request = Request::of_program(api, typed).ok()?;
        let uncounted = uncounted_fields(fields, dialect, &request, &self.path, is_streamed);
        Some(StoredRequest { dialect, request, is_streamed, uncounted, fault: None, long: None })
    }

    fn typed_body(
        &self,
        dialect: &'static dyn Dialect,
        mut body: Map<String, Value>,
        integers: &[String],
    ) -> Option<(Api, Map<String, Value>)> {
        for (field, _) in dialect.transport() {
            body.remove(*field);
        }
        let (api, mut body) = dialect.prompt(body)?;
        let mut address = self.address(dialect);
        let is_left_out = |place: &String| {
            let first = place.split('/').nth(1);
            dialect.transport().iter().any(|(field, _)| Some(*field) == first)
        };
        let integers = integers.iter().filter(|place| !is_left_out(place)).cloned().collect();
        name_integers(&mut address, integers);
        let is_plain = dialect
            .plain()
            .is_some_and(|plain| (plain.upstream, plain.path) == (&*self.upstream, &*self.path));
        if !is_plain || address.len() > PLAIN {
            body.insert(ADDRESS.to_owned(), Value::Object(address));
        }
        Some((api, body))
    }

    /// Where a request goes, as far as it may change the answer.
    fn address(&self, dialect: &'static dyn Dialect) -> Map<String, Value> {
        let mut address = Map::new();
        address.insert("dialect".to_owned(), version_of(dialect).into());
        address.insert("path".to_owned(), self.path.clone().into());
        address.insert("upstream".to_owned(), self.upstream.clone().into());
        if let Some(query) =
            self.query.as_deref().map(query_without_keys).filter(|it| !it.is_empty())
        {
            address.insert("query".to_owned(), query.into());
        }
        let counted = providers::counted_headers()
            .filter_map(|name| Some((name.to_owned(), Value::from(self.header(name)?))));
        let counted: Map<String, Value> = counted.collect();
        if !counted.is_empty() {
            address.insert("headers".to_owned(), Value::Object(counted));
        }
        address
    }

    /// A body that is not JSON: a form, parts of a form, a text, bytes.
    fn as_text(&self, body: &[u8]) -> Value {
        let body = self.with_fixed_boundary(body);
        match std::str::from_utf8(&body) {
            Ok(text) => text.into(),
            Err(_) => json!({"base64": BASE64.encode(&body)}),
        }
    }

    /// A body without the boundary of its parts, which is made up for each request.
    fn with_fixed_boundary<'b>(&self, body: &'b [u8]) -> Cow<'b, [u8]> {
        match self.header("content-type").and_then(boundary) {
            Some(boundary) => replace_all(body, boundary.as_bytes(), b"boundary").into(),
            None => body.into(),
        }
    }
}

/// The beginning of the name of a tool, as a part of a path.
fn plain_name(tool: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    tool.chars().take(LONGEST_TOOL).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// How many fields the address of a plain request has.
const PLAIN: usize = 3;

fn other(address: Map<String, Value>, messages: Vec<Value>) -> Result<Request, RequestError> {
    let mut body = Map::new();
    body.insert(ADDRESS.to_owned(), Value::Object(address));
    body.insert("messages".to_owned(), Value::Array(messages));
    Request::of_program(Api::Chat, body)
}

/// Names the places in a body at which a text stands for an integer that the canonical form would round.
fn name_integers(address: &mut Map<String, Value>, places: Vec<String>) {
    if !places.is_empty() {
        address.insert(INTEGERS.to_owned(), places.into());
    }
}

/// The boundary of a `multipart/form-data` body: names of parameters are in any letters, and values may be quoted (RFC 9110, section
/// 5.6.6).
fn boundary(content_type: &str) -> Option<&str> {
    let (kind, mut rest) = content_type.split_once(';')?;
    if !kind.trim().to_ascii_lowercase().starts_with("multipart/") {
        return None;
    }
    loop {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => value.split_once(';').unwrap_or((value, "")),
        };
        if name.trim().trim_start_matches(';').trim().eq_ignore_ascii_case("boundary") {
            return Some(value.trim()).filter(|it| !it.is_empty());
        }
        rest = after;
    }
}

/// An API as stored requests name it.
pub(crate) fn version_of(dialect: &dyn Dialect) -> String {
    format!("{}@{}", dialect.name(), dialect.version())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_is_found_however_it_is_written() {
        for (content_type, due) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("multipart/form-data; Boundary=abc", Some("abc")),
            ("Multipart/Form-Data;BOUNDARY = \"a;b=c\"; charset=utf-8", Some("a;b=c")),
            ("multipart/related; type=\"text/xml\"; boundary=abc ; x=y", Some("abc")),
            ("multipart/form-data; charset=utf-8", None),
            ("multipart/form-data; boundary=", None),
            ("text/plain; boundary=abc", None),
        ] {
            assert_eq!(boundary(content_type), due, "{content_type}");
        }
    }
}
