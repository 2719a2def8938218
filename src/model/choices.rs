//! The choices of an answer: several texts to one request, where it asks for them (`n`, `candidateCount`).
//!
//! The first choice is the text of the answer. The others are in `other_choices`, in the form of chat completions for every
//! API, and become answers of their own here.

use serde_json::{Map, Value};

use super::content_parts::{NotACompletion, text};
use super::parts::{
    CHOICE, COMPLETION, LOGPROBS, OTHER_CHOICES, UNENDED, USAGE, add_rest, leave_out, of_message,
    rest, take_text,
};

/// What all choices of an answer share.
const SHARED: [&str; 3] = [COMPLETION, UNENDED, USAGE];

/// A choice after the first, as an answer of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherChoice {
    /// The text; empty if there is none.
    pub text: String,
    /// Why it ended.
    pub finish_reason: Option<String>,
    /// The other parts, and those that all choices share.
    pub extra: Map<String, Value>,
    /// Why it has no text, if it could not be read.
    pub unreadable: Option<String>,
}

/// The choices of an answer after the first, from the parts next to its text.
pub fn other_choices(extra: &Map<String, Value>) -> Vec<OtherChoice> {
    let others = extra.get(OTHER_CHOICES).and_then(Value::as_array).into_iter().flatten();
    let read = others.zip(1..).map(|(choice, index)| {
        let (read, unreadable) = match CompletionChoice::new(choice, index) {
            Ok(read) => (read, None),
            Err(error) => (CompletionChoice::default(), Some(error.to_string())),
        };
        let CompletionChoice { text, finish_reason, extra: mut own } = read;
        for name in SHARED {
            own.extend(extra.get(name).map(|part| (name.to_owned(), part.clone())));
        }
        OtherChoice { text, finish_reason, extra: own, unreadable }
    });
    read.collect()
}

/// How many choices an answer has, from the parts next to its text.
pub fn choice_count(extra: &Map<String, Value>) -> u32 {
    let others = extra.get(OTHER_CHOICES).and_then(Value::as_array).map_or(0, Vec::len);
    u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1)
}

/// A choice of a chat completion.
#[derive(Default)]
pub(super) struct CompletionChoice {
    pub(super) text: String,
    pub(super) finish_reason: Option<String>,
    pub(super) extra: Map<String, Value>,
}

impl CompletionChoice {
    /// Reads it; `index` is the one that it has if it is in its place.
    pub(super) fn new(choice: &Value, index: u64) -> Result<Self, NotACompletion> {
        let message = choice["message"].as_object().ok_or(NotACompletion::NoMessage)?;
        let mut extra = of_message(message);
        let text = text(message.get("content"), &mut extra)?;
        let mut left =
            choice.as_object().map(|choice| rest(choice, &["message"])).unwrap_or_default();
        leave_out(&mut left, "index", &index.into());
        let finish_reason = take_text(&mut left, "finish_reason");
        if let Some(logprobs) = left.remove(LOGPROBS) {
            extra.insert(LOGPROBS.to_owned(), logprobs);
        }
        add_rest(&mut extra, CHOICE, left);
        Ok(CompletionChoice { text, finish_reason, extra })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_choice_is_an_answer_of_its_own() {
        let call =
            json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let extra = json!({"refusal": "of the first", "completion": {"created": 1}, "other_choices": [
            {"index": 1, "finish_reason": "length", "message": {"role": "assistant", "content": "two"}},
            {"index": 7, "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": null, "tool_calls": [call]}},
            {"index": 3, "finish_reason": "stop"}]});
        let extra = extra.as_object().unwrap();
        assert_eq!(choice_count(extra), 4);
        let others = other_choices(extra);
        assert_eq!((&*others[0].text, others[0].finish_reason.as_deref()), ("two", Some("length")));
        assert_eq!(Value::from(others[0].extra.clone()), json!({"completion": {"created": 1}}));
        assert_eq!(
            Value::from(others[1].extra.clone()),
            json!({"choice": {"index": 7}, "completion": {"created": 1}, "tool_calls": [call]})
        );
        assert_eq!(others[2].unreadable.as_deref(), Some("a choice has no \"message\""));
        assert_eq!((choice_count(&Map::new()), other_choices(&Map::new())), (1, Vec::new()));
    }
}
