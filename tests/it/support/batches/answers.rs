//! The function that answers questions, live and in batches.

use serde_json::{Value, json};

use super::routes::Api;
use crate::support::server::Received;
use crate::support::strict::{KINDS, Reader, reply};
use crate::support::studies;

/// A question.
pub(crate) struct Asked<'a> {
    pub(super) api: Api,
    /// The path of the live API, without `/v1/`, such as `chat/completions`.
    pub(crate) endpoint: &'a str,
    /// What is asked, without fields that say only how it is sent or paid for.
    pub(crate) body: &'a Value,
    /// The id of its line, if it is asked in a batch that has one.
    pub(crate) custom_id: Option<&'a str>,
    /// The number of answers that this body has had before.
    pub(crate) sample: u64,
}

/// Why a question is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Refusal { status, message: message.into() }
    }
}

/// Returns a reply in the form of the API. What it returns depends on the question alone.
pub(crate) type Answer = Box<dyn FnMut(&Asked<'_>) -> Result<Value, Refusal> + Send>;

/// Answers each body with a text of its own.
pub(crate) fn echo() -> Answer {
    Box::new(|asked| {
        let body = serde_json_canonicalizer::to_vec(asked.body).unwrap();
        let text = format!("Answer {}", &blake3::hash(&body).to_hex()[..12]);
        Ok(as_reply(asked, &text))
    })
}

/// Answers like the simulated model of an experiment. The answer depends on the body alone.
pub(crate) fn study(experiment: &str) -> Answer {
    let answers = studies::answers(experiment);
    Box::new(move |asked| {
        let body = reader(asked)(asked.body).map_err(|why| Refusal::new(400, why))?;
        let chat = Received {
            method: "POST".to_owned(),
            target: String::new(),
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        };
        let answer = answers(&chat);
        let is_chat = matches!((asked.api, asked.endpoint), (Api::OpenAi, "chat/completions"));
        let is_vector = asked.endpoint == "embeddings";
        if is_chat || is_vector {
            Ok(answer.body_json())
        } else {
            Ok(as_reply(asked, &answer.text()))
        }
    })
}

/// The name that the strict APIs have for this one.
fn kind(asked: &Asked<'_>) -> &'static str {
    match (asked.api, asked.endpoint) {
        (Api::Anthropic, _) => "anthropic",
        (Api::Gemini, _) => "gemini",
        (Api::OpenAi, "responses") => "responses",
        (Api::OpenAi, _) => "openai",
    }
}

fn reader(asked: &Asked<'_>) -> Reader {
    KINDS.iter().find(|(name, _)| *name == kind(asked)).unwrap().1
}

/// A text in the form of the API.
fn as_reply(asked: &Asked<'_>, text: &str) -> Value {
    if asked.endpoint != "chat/completions" {
        return reply(kind(asked), text);
    }
    let message = json!({"role": "assistant", "content": text});
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": asked.body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}})
}
