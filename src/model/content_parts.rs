//! The content of a message: a text, or a list of texts and other parts.

use serde_json::{Map, Value, json};

use super::parts::{CONTENT_PARTS, is_nothing, take_text};

/// Why a reply is not a chat completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotACompletion {
    /// No answer.
    #[error("it has no \"choices\"")]
    NoChoices,
    /// No answer.
    #[error("\"choices\" is empty")]
    EmptyChoices,
    /// For example, a reply of the legacy API.
    #[error("a choice has no \"message\"")]
    NoMessage,
    /// A content of unknown shape.
    #[error("\"content\" is neither a text nor a list of parts")]
    Content,
}

/// The text of a content: a text, nothing (a refusal, a tool call), or a list of texts and parts,
/// whose texts are joined. A list that has other parts than texts is also kept, with the position
/// of each text instead of the text.
pub(super) fn text(
    content: Option<&Value>,
    extra: &mut Map<String, Value>,
) -> Result<String, NotACompletion> {
    let parts = match content {
        None | Some(Value::Null) => return Ok(String::new()),
        Some(Value::String(text)) => return Ok(text.clone()),
        Some(Value::Array(parts)) => parts,
        Some(_) => return Err(NotACompletion::Content),
    };
    let mut text = String::new();
    let mut kept = parts.clone();
    let mut place_of = |said: &str| -> Value {
        let start = text.len();
        text.push_str(said);
        vec![start, text.len()].into()
    };
    for part in &mut kept {
        match part {
            Value::String(said) => *part = json!({ TEXT_AT: place_of(said) }),
            Value::Object(part) if !part.contains_key(TEXT_AT) => {
                if let Some(said) = take_text(part, "text") {
                    part.insert(TEXT_AT.to_owned(), place_of(&said));
                }
            }
            _ => {}
        }
    }
    if !kept.iter().all(is_plain) {
        extra.insert(CONTENT_PARTS.to_owned(), kept.into());
    }
    Ok(text)
}

/// What replaces the text of a part: its first byte in the joined text, and the one after its last.
const TEXT_AT: &str = "text_at";

/// Whether a part is only a text.
fn is_plain(part: &Value) -> bool {
    let is_known = |(name, value): (&String, &Value)| match name.as_str() {
        TEXT_AT => true,
        "type" => value == "text",
        _ => is_nothing(value),
    };
    part[TEXT_AT].is_array() && part.as_object().is_some_and(|part| part.iter().all(is_known))
}
