//! An answer in a line of an exchanges file.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::answer::{Content, Response};
use super::content_parts::{self, NotACompletion};
use super::parts::{ANSWERING_PARTS, FIELDS, MESSAGE, USAGE, keep_readable, leave_out, rest};
use super::usage;
use crate::exact::keep_exact;

/// An answer, as a line has it: `content` or `embedding`, and all other parts, each under its own
/// name or within `extra`. A whole reply of chat completions (`{"choices":[..],..}`), of embeddings
/// (`{"data":[..],..}`) or of Anthropic's Messages API can be pasted in unchanged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ExchangeResponse {
    /// The text, null if there is none (a refusal, a tool call), or a list of parts.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// The vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Vec<f32>>,
    /// Why the answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Tokens and cost, and whatever else the provider reports about them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The model as the provider reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's id of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The provider's name for the configuration that it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_fingerprint: Option<String>,
    /// The tier of service that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// The other parts, or the fields of a whole reply.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A field that is present, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Why an [`ExchangeResponse`] is not an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeResponseError {
    /// Neither an answer nor a failure.
    #[error("it has neither \"response\" nor \"error\"")]
    Neither,
    /// Both an answer and a failure.
    #[error("it has both \"response\" and \"error\"")]
    Either,
    /// No answer.
    #[error("\"response\" has neither \"content\" nor \"embedding\"")]
    Empty,
    /// Two answers.
    #[error("\"response\" has both {first:?} and {second:?}")]
    Both {
        /// The first answer's field.
        first: &'static str,
        /// The second answer's field.
        second: &'static str,
    },
    /// A pasted reply without an answer.
    #[error("\"response\": {0}")]
    Pasted(NotACompletion),
    /// A pasted reply without a vector.
    #[error("\"response\": {0}")]
    PastedVector(String),
    /// A pasted error reply of a provider.
    #[error(
        "\"response\" is an error of the provider: write \"error\": {{\"failure\": \"server\", \"message\": ..}} in its place"
    )]
    ProvidersError,
    /// A content of unknown shape.
    #[error("\"content\" is neither a text nor a list of parts nor null")]
    Content,
    /// A reply in the format of an API that is not read.
    #[error(
        "\"response\" is a reply of {0}, which cannot be read: write its text as \"content\". \
         Whole replies can be pasted from chat completions (\"choices\"), embeddings (\"data\") and Anthropic's Messages API"
    )]
    Dialect(&'static str),
    /// Parts that are not an object.
    #[error("\"extra\" of \"response\" is not an object")]
    Extra,
    /// A part that is given twice.
    #[error("{0:?} is in \"response\" and again in its \"extra\": write it once")]
    Twice(String),
    /// A field that is inside `extra`.
    #[error("{0:?} is inside \"extra\" of \"response\": move it out, next to \"extra\"")]
    Misplaced(String),
    /// An empty vector.
    #[error("\"embedding\" is empty")]
    EmptyVector,
    /// A component that is not a finite 32-bit float.
    #[error("component {index} of \"embedding\" is not a finite 32-bit float")]
    NotFinite {
        /// Which one, from 0.
        index: usize,
    },
}

impl ExchangeResponse {
    /// The answer in these fields, which are not the whole reply of an API.
    ///
    /// # Errors
    /// [`ExchangeResponseError`] if there is none.
    pub(super) fn into_answer(self) -> Result<Response, ExchangeResponseError> {
        let ExchangeResponse {
            content,
            embedding,
            finish_reason,
            usage,
            model,
            id,
            system_fingerprint,
            service_tier,
            extra: mut given,
        } = self;
        let inner = given.remove("extra");
        let mut extra = rest(&given, &[]);
        leave_out(&mut extra, "role", &"assistant".into());
        if let Some(inner) = inner.filter(|inner| !inner.is_null()) {
            add_parts(&mut extra, inner)?;
        }
        let (usage, more) = usage.map_or((None, None), usage::read);
        if let Some(more) = more
            && extra.insert(USAGE.to_owned(), more).is_some()
        {
            return Err(ExchangeResponseError::Twice(USAGE.to_owned()));
        }
        keep_exact(&mut extra);
        keep_readable(&mut extra);
        let content = match (content, embedding) {
            (Some(_), Some(_)) => {
                return Err(ExchangeResponseError::Both { first: "content", second: "embedding" });
            }
            (Some(Value::String(text)), None) => Content::from(text),
            (Some(content), None) => {
                let text = content_parts::text(Some(&content), &mut extra);
                Content::from(text.map_err(|_| ExchangeResponseError::Content)?)
            }
            (None, Some(vector)) => Content::Vector(check_vector(vector)?.into()),
            // A refusal or a tool call comes without a text.
            (None, None) if ANSWERING_PARTS.iter().any(|part| extra.contains_key(*part)) => {
                Content::from("")
            }
            (None, None) if extra.contains_key("error") => {
                return Err(ExchangeResponseError::ProvidersError);
            }
            (None, None) => return Err(ExchangeResponseError::Empty),
        };
        Ok(Response {
            content,
            finish_reason,
            usage,
            model,
            id,
            system_fingerprint,
            service_tier,
            extra,
        })
    }
}

/// Adds the parts inside a nested `extra`.
fn add_parts(extra: &mut Map<String, Value>, inner: Value) -> Result<(), ExchangeResponseError> {
    let Value::Object(inner) = inner else { return Err(ExchangeResponseError::Extra) };
    for (name, value) in rest(&inner, &[]) {
        if FIELDS.contains(&name.as_str()) {
            return Err(ExchangeResponseError::Misplaced(name));
        }
        if extra.insert(name.clone(), value).is_some() {
            return Err(ExchangeResponseError::Twice(name));
        }
    }
    Ok(())
}

fn check_vector(vector: Vec<f32>) -> Result<Vec<f32>, ExchangeResponseError> {
    if vector.is_empty() {
        return Err(ExchangeResponseError::EmptyVector);
    }
    match vector.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ExchangeResponseError::NotFinite { index }),
        None => Ok(vector),
    }
}

/// Moves parts that have the name of a field to where they do not clash. Only custom models produce
/// such parts.
fn set_apart(extra: &mut Map<String, Value>) {
    let (mut clashing, mut rest): (Map<String, Value>, Map<String, Value>) =
        std::mem::take(extra).into_iter().partition(|(name, _)| FIELDS.contains(&name.as_str()));
    if !clashing.is_empty() {
        let apart = rest.entry(MESSAGE).or_insert_with(|| Value::Object(Map::new()));
        match apart {
            Value::Object(apart) => apart.extend(clashing),
            other => {
                clashing.insert(MESSAGE.to_owned(), other.take());
                *other = Value::Object(clashing);
            }
        }
    }
    *extra = rest;
}

impl From<&Response> for ExchangeResponse {
    fn from(response: &Response) -> Self {
        let Response {
            content,
            finish_reason,
            usage,
            model,
            id,
            system_fingerprint,
            service_tier,
            extra,
        } = response;
        let (content, embedding) = match content {
            Content::Text(text) => (Some(Value::from(&**text)), None),
            Content::Vector(vector) => (None, Some(vector.to_vec())),
        };
        let mut extra = extra.clone();
        let usage = usage::write(*usage, extra.remove(USAGE));
        set_apart(&mut extra);
        ExchangeResponse {
            content,
            embedding,
            finish_reason: finish_reason.clone(),
            usage,
            model: model.clone(),
            id: id.clone(),
            system_fingerprint: system_fingerprint.clone(),
            service_tier: service_tier.clone(),
            extra,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Usage;
    use crate::model::parts::RESERVED_PARTS;

    /// Otherwise a line would have the same name twice.
    #[test]
    fn a_part_with_the_name_of_a_field_is_set_apart() {
        let mut response = Response::text("a");
        response.extra.insert("id".to_owned(), json!(7));
        response.extra.insert(MESSAGE.to_owned(), json!({"model": "m"}));
        let written = serde_json::to_value(ExchangeResponse::from(&response)).unwrap();
        assert_eq!(written, json!({"content": "a", "message": {"id": 7, "model": "m"}}));
    }

    /// What an export writes is what an import reads.
    #[test]
    fn a_response_is_read_back_as_it_was_written() {
        let mut chat = Response::text("a\n\"b\" \u{1F600}");
        chat.finish_reason = Some("stop".to_owned());
        chat.usage = Some(Usage {
            prompt_tokens: Some(1),
            cached_tokens: Some(1),
            cost: Some(0.1),
            ..Usage::default()
        });
        chat.model = Some("m".to_owned());
        chat.id = Some("i".to_owned());
        chat.system_fingerprint = Some("f".to_owned());
        chat.service_tier = Some("t".to_owned());
        for part in ANSWERING_PARTS.iter().chain(RESERVED_PARTS).chain(&["annotations", "x"]) {
            chat.extra.insert((*part).to_owned(), json!([part]));
        }
        chat.extra.insert(USAGE.to_owned(), json!({"audio_tokens": 3}));
        let mut vector = Response::text("");
        vector.content = Content::Vector([0.1, -0.0, f32::MIN_POSITIVE, f32::MAX, 1e-45].into());
        for response in [chat, vector] {
            let written = serde_json::to_string(&ExchangeResponse::from(&response)).unwrap();
            let read: ExchangeResponse = serde_json::from_str(&written).unwrap();
            assert_eq!(Response::try_from(read).unwrap(), response, "{written}");
        }
    }
}
