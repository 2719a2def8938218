//! A line of a file, and the answer on it.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::error::CliError;
use retold::escaping::printable;
use retold::explain::explain;
use retold::id::{CallPath, Sample};
use retold::jsonl::JsonlError;
use retold::model::providers::ReplyOf;
use retold::model::{
    Content, ExchangeResponse, ExchangeResponseError, Response, UNREADABLE, choice_count,
};
use retold::parse::WholeAnswer;
use retold::prompt::Request;
use retold::unique::Unique;

/// A line as it was read, with its number.
pub(super) type Read = Result<(usize, String), JsonlError>;

/// The answer on a line.
#[derive(Debug, Default)]
pub(super) struct AnswerLine {
    /// Its number; 0 for an answer that is the whole input.
    pub(super) number: usize,
    pub(super) call: Option<CallPath>,
    pub(super) sample: Option<Sample>,
    pub(super) params: Option<Value>,
    /// The request that it answers, if the line has it.
    pub(super) request: Option<Request>,
    /// `None` for a call that failed.
    pub(super) answer: Option<Response>,
}

impl AnswerLine {
    /// Reads a line of a file, which messages name.
    ///
    /// # Errors
    /// [`CliError`], with the number of the line.
    pub(super) fn new(read: Read, file: &str) -> Result<Self, CliError> {
        let (number, text) = read?;
        let line = line(&text);
        let line = line.map_err(|e| CliError::usage(format!("{file}, line {number}: {e}")));
        Ok(AnswerLine { number, ..line? })
    }

    /// The answer as a parser sees it; `None` for an embedding, which has no text.
    pub(super) fn whole(&self) -> Option<WholeAnswer<'_>> {
        let answer = self.answer.as_ref().filter(|_| !self.is_embedding())?;
        let Response { content, finish_reason, extra, .. } = answer;
        let (text, finish_reason) = (content.text(), finish_reason.as_deref());
        Some(WholeAnswer { text, finish_reason, extra: Some(extra) })
    }

    /// How many choices the answer has. The first is parsed.
    pub(super) fn choices(&self) -> u32 {
        self.answer.as_ref().map_or(1, |answer| choice_count(&answer.extra))
    }

    pub(super) fn is_embedding(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| matches!(answer.content, Content::Vector(_)))
    }
}

/// The keys allowed in an object on a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Object {
    text: Option<String>,
    /// A text, null or a list of parts, as in the `response` of an exchanges file.
    #[serde(default, deserialize_with = "present")]
    content: Option<Value>,
    response: Option<ExchangeResponse>,
    params: Option<Unique>,
    call: Option<CallPath>,
    sample: Option<Sample>,
    error: Option<Value>,
    request: Option<Value>,
    #[serde(rename = "label")]
    _label: Option<Value>,
    #[serde(rename = "simulated")]
    _simulated: Option<bool>,
}

/// A field that is present, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Why a line has no answer to parse.
#[derive(Debug, thiserror::Error)]
enum LineError {
    #[error("write a JSON text, or an object with \"text\"")]
    NeitherTextNorObject,
    #[error("{}", explain_json(.0))]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Response(#[from] ExchangeResponseError),
    #[error(
        "it has neither \"text\" nor \"content\" nor \"response\": write the answer as {{\"text\": ..}}"
    )]
    Nothing,
    #[error(
        "the object has {}, but neither \"text\" nor \"content\" nor \"response\": write the answer as {{\"text\": ..}}",
        key_list(.0)
    )]
    OtherKeys(Vec<String>),
    #[error(
        "this is a whole reply of {0}: write it as {{\"response\": ..}}, with the reply in place of the dots"
    )]
    Reply(&'static str),
    #[error(
        "this is a whole reply of {0}, which cannot be read: write its text as {{\"text\": ..}}"
    )]
    UnreadReply(&'static str),
    #[error("\"params\" is not a group of keys: write a JSON object")]
    Params,
    #[error("it has more than one of \"text\", \"content\", \"response\" and \"error\"")]
    Several,
}

/// A JSON error for people. Its line and column are relative to the line.
fn explain_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    printable(&explain(reason), 400)
}

fn line(text: &str) -> Result<AnswerLine, LineError> {
    match text.trim_start().chars().next() {
        Some('"') => {
            let text: String = serde_json::from_str(text)?;
            Ok(AnswerLine { answer: Some(Response::text(text)), ..AnswerLine::default() })
        }
        Some('{') => {
            let read = serde_json::from_str(text).map_err(LineError::from).and_then(object);
            read.map_err(|error| match error {
                LineError::Json(_) | LineError::Nothing => foreign(text).unwrap_or(error),
                error => error,
            })
        }
        _ => Err(LineError::NeitherTextNorObject),
    }
}

/// The keys of an object that hold its answer, or say that there is none.
const ANSWERS: [&str; 4] = ["text", "content", "response", "error"];

/// What an object is instead of a line of ours, if it can be said.
fn foreign(text: &str) -> Option<LineError> {
    let fields: Map<String, Value> = serde_json::from_str(text).ok()?;
    match ReplyOf::recognise(&fields) {
        Some(ReplyOf { api, dialect }) if dialect.is_pasted() => Some(LineError::Reply(api)),
        Some(ReplyOf { api, dialect: _ }) => Some(LineError::UnreadReply(api)),
        None if fields.is_empty() || ANSWERS.iter().any(|key| fields.contains_key(*key)) => None,
        None => Some(LineError::OtherKeys(fields.into_iter().map(|(key, _)| key).collect())),
    }
}

/// The most keys of an object that a message names.
const MOST_KEYS: usize = 5;

/// Some keys, for people.
fn key_list(keys: &[String]) -> String {
    let mut named: Vec<String> =
        keys.iter().take(MOST_KEYS).map(|key| format!("\"{}\"", printable(key, 40))).collect();
    if keys.len() > MOST_KEYS {
        named.push(format!("{} more", keys.len() - MOST_KEYS));
    }
    match named.as_slice() {
        [first @ .., last] if !first.is_empty() => {
            format!("the keys {} and {last}", first.join(", "))
        }
        keys => format!("the key {}", keys.join("")),
    }
}

fn object(object: Object) -> Result<AnswerLine, LineError> {
    let Object { text, content, response, params, call, sample, error, request, .. } = object;
    // One that is not a request of ours is left aside: only a parser file asks for it.
    let request = request.and_then(|body| Request::from_record(body).ok());
    let response = response.map(Response::try_from).transpose()?;
    let answer = match (text, content, response, error) {
        (Some(text), None, None, None) => Some(Response::text(text)),
        (None, content @ Some(_), None, None) => {
            Some(Response::try_from(ExchangeResponse { content, ..ExchangeResponse::default() })?)
        }
        (None, None, Some(mut response), None) => {
            response.extra.remove(UNREADABLE);
            Some(response)
        }
        (None, None, None, Some(_)) => None,
        (None, None, None, None) => {
            return Err(LineError::Nothing);
        }
        _ => {
            return Err(LineError::Several);
        }
    };
    let params = match params {
        None => None,
        Some(Unique(params @ Value::Object(_))) => Some(params),
        Some(_) => return Err(LineError::Params),
    };
    Ok(AnswerLine { number: 0, call, sample, params, request, answer })
}
