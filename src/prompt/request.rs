//! The canonical request.

use std::fmt::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::canonical::{CanonicalError, check_exact, hash_of, write_canonical};
use super::messages::Messages;
use super::straight::{self, ItemPositions};
use super::transport::{TRANSPORT, TRANSPORT_LISTS, TransportList, list};
use crate::id::PromptHash;
use crate::values::{self, MOST_VALUES};

/// The kind of question that a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Api {
    /// Messages in, a message out.
    Chat,
    /// A text in, a vector out.
    Embedding,
    /// A program's tool: a name and arguments in, a result out. No model is asked, and nothing is paid.
    Tool,
}

/// Why a JSON value is not a request.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// It is not an object.
    #[error("a request is a JSON object, not {found}")]
    NotAnObject {
        /// The kind of value that it is instead.
        found: &'static str,
    },
    /// It has neither `messages` nor `input`, or both; nor is it a call of a tool.
    #[error("a request has either \"messages\" (chat) or \"input\" (embedding)")]
    UnknownApi,
    /// A body of another API of the same providers, which also has `input`.
    #[error(
        "{field} belongs to the Responses API, which is not supported: write \"messages\" as for chat completions, with \
         \"instructions\" as the first (role \"system\") and \"input\" as the next (role \"user\")"
    )]
    ResponsesApi {
        /// The field that shows it.
        field: &'static str,
    },
    /// `n` above 1 would hide several samples in one address.
    #[error("\"n\" must be 1: ask for samples instead, each has its own address in the log")]
    ManyChoices,
    /// A number that JSON cannot represent.
    #[error("\"{field}\" must be a finite number, not {value}")]
    NotFinite {
        /// The parameter.
        field: &'static str,
        /// The value: `NaN` or `inf`.
        value: String,
    },
    /// Longer than [`LONGEST_REQUEST`].
    #[error("a request of {bytes} bytes is too long: at most {LONGEST_REQUEST}")]
    TooLong {
        /// The length of its canonical form.
        bytes: usize,
    },
    /// It was assembled from more values than are read.
    #[error("a request has at most {MOST_VALUES} values")]
    TooManyValues,
    /// It has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
    /// Its canonical form is of a later release.
    #[error("its canonical form has version {found}, and this program knows those up to {known}")]
    UnknownVersion {
        /// The version it states.
        found: u32,
        /// The latest version that is known.
        known: u32,
    },
    /// A stored canonical text does not have the shape that [`Request`] writes.
    #[error("not a canonical request: {0}")]
    NotCanonical(String),
}

/// The longest request, in bytes of its canonical form. Readers of a log accept no longer one,
/// since a short skeleton may refer to a long text thousands of times. A line of JSON Lines may be
/// twice as long.
pub const LONGEST_REQUEST: usize = 32 << 20;

/// A request to a model: canonical, hashed, cheap to clone.
#[derive(Clone)]
pub struct Request(Arc<Inner>);

struct Inner {
    parts: RequestParts,
    canonical: String,
    /// The positions of a chat's messages in it.
    messages: Option<ItemPositions>,
    hash: PromptHash,
}

/// The parts of a request.
pub(super) struct RequestParts {
    api: Api,
    body: Value,
    /// The version of the list of fields that are left out.
    version: u32,
    /// The fields that were left out of the body: another version may not leave them out.
    left_out: Map<String, Value>,
}

impl Request {
    /// A request from the JSON body that would be sent; transport fields are dropped.
    ///
    /// # Errors
    /// [`RequestError`]: not a request, or without canonical form.
    pub fn from_body(body: Value) -> Result<Self, RequestError> {
        let request = Self::from_record(body)?;
        match request.body().get("n") {
            Some(_) => Err(RequestError::ManyChoices),
            None => Ok(request),
        }
    }

    /// A request that has been answered, from its JSON body: as [`from_body`](Self::from_body), but `n` may be more
    /// than 1, because the whole reply is kept as one answer.
    ///
    /// # Errors
    /// [`RequestError`]: not a request, or without canonical form.
    pub fn from_record(body: Value) -> Result<Self, RequestError> {
        Self::from_body_under(body, TRANSPORT)
    }

    fn from_body_under(body: Value, list: &TransportList) -> Result<Self, RequestError> {
        let Value::Object(mut body) = body else {
            return Err(RequestError::NotAnObject { found: kind_of(&body) });
        };
        let mut left_out = Map::new();
        for (field, _) in list.fields {
            left_out.extend(body.remove_entry(*field));
        }
        let api = match (body.contains_key("messages"), body.contains_key("input")) {
            (true, false) => Api::Chat,
            (false, true) => match of_responses_api(&body) {
                None => Api::Embedding,
                Some(field) => return Err(RequestError::ResponsesApi { field }),
            },
            (false, false) if body.contains_key("instructions") => {
                return Err(RequestError::ResponsesApi { field: "\"instructions\"" });
            }
            (false, false) if body.get(TOOL).is_some_and(Value::is_string) => Api::Tool,
            _ => return Err(RequestError::UnknownApi),
        };
        if body.get("n").is_some_and(|n| n.as_f64() == Some(1.0)) {
            body.remove("n");
        }
        Self::build(RequestParts {
            api,
            body: Value::Object(body),
            version: list.version,
            left_out,
        })
    }

    /// A request that a program sent by itself, under whichever API: its body without transport
    /// fields, and whatever else of it may change the answer. Nothing is left out here, and `n` may
    /// be more than 1, because the whole reply is kept as one answer.
    ///
    /// # Errors
    /// [`RequestError`]: too long, or without canonical form.
    pub fn of_program(api: Api, body: Map<String, Value>) -> Result<Self, RequestError> {
        let version = TRANSPORT.version;
        Self::build(RequestParts { api, body: Value::Object(body), version, left_out: Map::new() })
    }

    /// The same request in another version of its canonical form, as a run has it that was recorded
    /// with that.
    ///
    /// # Errors
    /// [`RequestError::UnknownVersion`], or it has no canonical form in that version.
    pub(crate) fn in_version(&self, version: u32) -> Result<Self, RequestError> {
        self.in_version_of(TRANSPORT_LISTS, version)
    }

    fn in_version_of(
        &self,
        lists: &'static [TransportList],
        version: u32,
    ) -> Result<Self, RequestError> {
        if version == self.version() {
            return Ok(self.clone());
        }
        let list = known_list(lists, version)?;
        let RequestParts { api, body, left_out, .. } = &self.0.parts;
        let fields = body.as_object().into_iter().flatten().chain(left_out);
        let (left_out, body) = fields
            .map(|(field, value)| (field.clone(), value.clone()))
            .partition(|(field, _)| list.has(field));
        Self::build(RequestParts { api: *api, body: Value::Object(body), version, left_out })
    }

    fn build(parts: RequestParts) -> Result<Self, RequestError> {
        let RequestParts { api, ref body, version, .. } = parts;
        check_exact(body)?;
        let mut canonical = String::with_capacity(1024);
        canonical.push_str(match api {
            Api::Chat => "{\"api\":\"chat\",\"body\":",
            Api::Embedding => "{\"api\":\"embedding\",\"body\":",
            Api::Tool => "{\"api\":\"tool\",\"body\":",
        });
        let before = canonical.len();
        let fields = body.as_object().filter(|_| api == Api::Chat);
        let noted = fields.and_then(|it| straight::write_noting(it, "messages", &mut canonical));
        let messages = match noted {
            Some(messages) => messages,
            None => {
                canonical.truncate(before);
                write_canonical(body, &mut canonical)?;
                None
            }
        };
        // Writing to a string cannot fail.
        let _ = write!(canonical, ",\"v\":{version}}}");
        Self::of_parts(parts, canonical, messages)
    }

    /// A request whose canonical text is known.
    pub(super) fn of_parts(
        parts: RequestParts,
        canonical: String,
        messages: Option<ItemPositions>,
    ) -> Result<Self, RequestError> {
        short_enough(canonical.len())?;
        let hash = PromptHash(hash_of(canonical.as_bytes()));
        Ok(Request(Arc::new(Inner { parts, canonical, messages, hash })))
    }

    /// The parts of a request with another body.
    pub(super) fn parts(&self, body: Value) -> RequestParts {
        let RequestParts { api, body: _, version, left_out } = &self.0.parts;
        RequestParts { api: *api, body, version: *version, left_out: left_out.clone() }
    }

    /// The same request with another body.
    pub(crate) fn with_body(&self, body: Value) -> Result<Self, RequestError> {
        Self::build(self.parts(body))
    }

    /// The request of an envelope `{"api":..,"body":{..},"v":1}`.
    pub(crate) fn from_envelope(envelope: Value) -> Result<Self, RequestError> {
        let envelope = OwnedEnvelope::deserialize(envelope);
        Self::of_envelope(
            envelope.map_err(|e| RequestError::NotCanonical(e.to_string()))?,
            TRANSPORT_LISTS,
        )
    }

    fn of_envelope(
        envelope: OwnedEnvelope,
        lists: &'static [TransportList],
    ) -> Result<Self, RequestError> {
        let OwnedEnvelope { api, body, v } = envelope;
        let version = known_list(lists, v)?.version;
        Self::build(RequestParts { api, body: Value::Object(body), version, left_out: Map::new() })
    }

    /// The messages of a chat in the canonical text; `None` for an embedding, and for a chat whose
    /// keys are in an order that only the slow path can write.
    pub(crate) fn message_list(&self) -> Option<Messages<'_>> {
        let places = self.0.messages.as_ref()?;
        Some(Messages::new(&self.0.canonical, places.start, &places.ends))
    }

    /// Reads back what [`Request::canonical`] wrote.
    ///
    /// # Errors
    /// [`RequestError::NotCanonical`] if the text is not byte for byte what this version writes.
    pub fn from_canonical(text: &str) -> Result<Self, RequestError> {
        Self::from_canonical_of(text, TRANSPORT_LISTS)
    }

    fn from_canonical_of(
        text: &str,
        lists: &'static [TransportList],
    ) -> Result<Self, RequestError> {
        let not = |reason: String| RequestError::NotCanonical(reason);
        let envelope: OwnedEnvelope = serde_json::from_str(text).map_err(|e| not(e.to_string()))?;
        let request = Self::of_envelope(envelope, lists)?;
        if request.canonical() != text {
            return Err(not("its canonical form differs".to_owned()));
        }
        Ok(request)
    }

    /// How many bytes it takes in memory, in about: its text, and its values.
    pub fn footprint(&self) -> usize {
        const VALUE: usize = size_of::<Value>();
        self.canonical().len() + VALUE * values::count(self.canonical().as_bytes())
    }

    /// The kind of question.
    pub fn api(&self) -> Api {
        self.0.parts.api
    }

    /// The version of its canonical form.
    pub fn version(&self) -> u32 {
        self.0.parts.version
    }

    /// The body to send, without transport fields.
    pub fn body(&self) -> &Value {
        &self.0.parts.body
    }

    /// RFC 8785 JSON: `{"api":..,"body":{..},"v":1}`.
    pub fn canonical(&self) -> &str {
        &self.0.canonical
    }

    /// BLAKE3-256 of [`Request::canonical`].
    pub fn hash(&self) -> PromptHash {
        self.0.hash
    }

    /// The tool that is called; `None` if a model is asked.
    pub fn tool(&self) -> Option<&str> {
        self.body().get(TOOL).and_then(Value::as_str).filter(|_| self.api() == Api::Tool)
    }

    /// The model's name, if the request gives one.
    pub fn model(&self) -> Option<&str> {
        self.body().get("model").and_then(Value::as_str)
    }

    /// The messages as `(role, text)`, in order; text parts are joined, other parts are shown as
    /// JSON. An embedding request is one message with the role `input`, a call of a tool one with the role `call`. Instructions that an API has
    /// outside its messages (`system`, `systemInstruction`, `instructions`) come first, as `system`.
    pub fn messages(&self) -> Vec<(String, String)> {
        if self.api() == Api::Embedding {
            return vec![("input".to_owned(), text_of(&self.body()["input"]))];
        }
        if let Some(tool) = self.tool() {
            return vec![("call".to_owned(), format!("{tool} {}", self.body()["arguments"]))];
        }
        let messages = self.body()["messages"].as_array().map_or(&[][..], Vec::as_slice);
        let instructions = INSTRUCTIONS.iter().filter_map(|name| self.body().get(*name));
        let instructions = instructions.map(|said| ("system".to_owned(), text_of(said)));
        instructions.chain(messages.iter().map(message)).collect()
    }
}

/// The field of a request with the name of the tool that it calls.
const TOOL: &str = "tool";

/// Fields that embedding requests never have, but requests of the Responses API may.
const OF_RESPONSES_API: &[(&str, &str)] = &[
    ("instructions", "\"instructions\""),
    ("max_output_tokens", "\"max_output_tokens\""),
    ("previous_response_id", "\"previous_response_id\""),
    ("conversation", "\"conversation\""),
    ("reasoning", "\"reasoning\""),
    ("text", "\"text\""),
    ("tools", "\"tools\""),
    ("tool_choice", "\"tool_choice\""),
    ("temperature", "\"temperature\""),
    ("top_p", "\"top_p\""),
    ("include", "\"include\""),
    ("background", "\"background\""),
];

/// The field that shows that a body with `input` is a request of the Responses API.
fn of_responses_api(body: &Map<String, Value>) -> Option<&'static str> {
    let field = OF_RESPONSES_API.iter().find(|(name, _)| body.contains_key(*name));
    let items = body.get("input").and_then(Value::as_array);
    let has_items = items.is_some_and(|items| items.iter().any(Value::is_object));
    let items = has_items.then_some("an \"input\" of messages");
    field.map(|(_, quoted)| *quoted).or(items)
}

/// Where APIs have instructions outside their messages: Anthropic, Gemini (two spellings), and
/// OpenAI's Responses API.
const INSTRUCTIONS: &[&str] =
    &["system", "systemInstruction", "system_instruction", "instructions"];

/// The role and the text of a message. Gemini calls its content `parts`, and an item of the
/// Responses API that is not a message has a type instead of a role.
fn message(message: &Value) -> (String, String) {
    let role = message["role"].as_str().or(message["type"].as_str()).unwrap_or("?");
    let content = message.get("content").or(message.get("parts"));
    let text = match content {
        Some(content) => text_of(content),
        None if message["role"].is_string() => String::new(),
        None => message.to_string(),
    };
    (role.to_owned(), text)
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .map(|part| part["text"].as_str().map_or_else(|| part.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Null => String::new(),
        // Gemini's instructions.
        Value::Object(content) if content.contains_key("parts") => text_of(&content["parts"]),
        other => other.to_string(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnedEnvelope {
    api: Api,
    body: Map<String, Value>,
    v: u32,
}

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}

impl Eq for Request {}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({})", self.0.hash.short(12))
    }
}

/// The list of a version.
fn known_list(
    lists: &'static [TransportList],
    version: u32,
) -> Result<&'static TransportList, RequestError> {
    list(lists, version).ok_or_else(|| RequestError::UnknownVersion {
        found: version,
        known: lists.last().map_or(0, |list| list.version),
    })
}

/// Accepts only what can be read back.
pub(super) fn short_enough(bytes: usize) -> Result<(), RequestError> {
    if bytes > LONGEST_REQUEST { Err(RequestError::TooLong { bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// As it will be when another field is left out.
    static LISTS: &[TransportList] = &[
        TRANSPORT_LISTS[0],
        TransportList {
            version: 2,
            fields: &[("stream", "first reason"), ("user_agent", "second")],
        },
    ];

    fn body() -> Value {
        json!({"model": "m", "messages": [], "stream": true, "store": true, "user_agent": "x"})
    }

    #[test]
    fn what_was_recorded_in_an_earlier_version_is_read_as_it_was() {
        for list in LISTS {
            let request = Request::from_body_under(body(), list).unwrap();
            assert_eq!(request.version(), list.version);
            let again = Request::from_canonical_of(request.canonical(), LISTS).unwrap();
            assert_eq!((again.hash(), again.version()), (request.hash(), list.version));
            let envelope: Value = serde_json::from_str(request.canonical()).unwrap();
            let envelope = OwnedEnvelope::deserialize(envelope).unwrap();
            assert_eq!(Request::of_envelope(envelope, LISTS).unwrap().hash(), request.hash());
        }
        // Today's first version is the same under both tables.
        let first = Request::from_body_under(body(), &LISTS[0]).unwrap();
        assert_eq!(Request::from_canonical(first.canonical()).unwrap().hash(), first.hash());
        let second = Request::from_body_under(body(), &LISTS[1]).unwrap();
        let error = Request::from_canonical(second.canonical()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "its canonical form has version 2, and this program knows those up to 1"
        );
    }

    #[test]
    fn a_request_is_asked_in_the_version_of_its_run() {
        let [first, second] =
            [0, 1].map(|at| Request::from_body_under(body(), &LISTS[at]).unwrap());
        assert_ne!(first.hash(), second.hash());
        assert_eq!(first.body(), &json!({"model": "m", "messages": [], "user_agent": "x"}));
        assert_eq!(second.body(), &json!({"model": "m", "messages": [], "store": true}));
        let as_first = second.in_version_of(LISTS, 1).unwrap();
        assert_eq!((as_first.hash(), as_first.version()), (first.hash(), 1));
        assert_eq!(first.in_version_of(LISTS, 2).unwrap().hash(), second.hash());
        assert!(first.in_version_of(LISTS, 3).is_err());
    }

    #[test]
    fn a_request_that_is_too_long_to_read_back_is_refused() {
        assert!(short_enough(LONGEST_REQUEST).is_ok());
        let error = short_enough(LONGEST_REQUEST + 1).unwrap_err();
        let said = "a request of 33554433 bytes is too long: at most 33554432";
        assert_eq!(error.to_string(), said);
    }
}
