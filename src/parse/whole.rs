//! An answer as parsers see it: its text, and what else came with it.

use serde_json::{Map, Value};

/// The parts that say something where an answer has no text.
const SAYING: [&str; 5] = ["audio", "content_parts", "function_call", "refusal", "tool_calls"];

/// The reasons for which an answer ends before its end, as providers spell them.
const CUT_OFF: [&str; 2] = ["length", "max_tokens"];

/// An answer, whole: what a [`Parser`](super::Parser) decides about. Nothing in it depends on when or by whom it was
/// recorded, so that a replay, a fork and an import decide alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WholeAnswer<'a> {
    /// The text; empty if there is none.
    pub text: &'a str,
    /// Why it ended (`stop`, `length`, `tool_calls`), as the provider spells it.
    pub finish_reason: Option<&'a str>,
    /// The other parts by their names, such as `tool_calls`, `refusal`, `reasoning_content` and `logprobs`.
    pub extra: Option<&'a Map<String, Value>>,
}

impl<'a> WholeAnswer<'a> {
    /// A text and nothing else.
    pub fn text(text: &'a str) -> Self {
        WholeAnswer { text, finish_reason: None, extra: None }
    }

    /// A part beside the text, if it is there.
    pub fn part(&self, name: &str) -> Option<&'a Value> {
        self.extra?.get(name).filter(|part| !part.is_null())
    }

    /// The tools that the model asks to be called, in order.
    pub fn tool_calls(&self) -> &'a [Value] {
        self.part("tool_calls").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Why the model refuses to answer, if it says so apart from the text.
    pub fn refusal(&self) -> Option<&'a str> {
        self.part("refusal")?.as_str()
    }

    /// The parts that say something where an answer has no text, by name.
    pub fn saying(&self) -> impl Iterator<Item = (&'static str, &'a Value)> {
        let answer = *self;
        SAYING.into_iter().filter_map(move |name| Some((name, answer.part(name)?)))
    }

    /// Whether nothing was answered: white space at most, no tool call, no refusal, no sound. Reasoning alone is not an
    /// answer: it is what a model leaves that has used up its tokens.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.saying().next().is_none()
    }

    /// Whether the answer ends before its end, because it was as long as it might be.
    pub fn is_cut_off(&self) -> bool {
        self.finish_reason.is_some_and(|reason| CUT_OFF.contains(&reason))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_says_something_is_not_empty() {
        let is_empty = |text: &str, extra: Value| {
            let extra = extra.as_object().cloned();
            WholeAnswer { extra: extra.as_ref(), ..WholeAnswer::text(text) }.is_empty()
        };
        assert!(is_empty("", json!({})) && is_empty(" \n", json!({"reasoning_content": "hm"})));
        assert!(is_empty("", json!({"refusal": null, "logprobs": {"content": []}})));
        assert!(!is_empty("x", json!({})) && !is_empty("", json!({"refusal": "no"})));
        assert!(!is_empty("", json!({"tool_calls": [{"id": "c"}]})));
    }

    #[test]
    fn only_a_limit_cuts_an_answer_off() {
        let cut =
            |reason| WholeAnswer { finish_reason: reason, ..WholeAnswer::text("x") }.is_cut_off();
        assert!(cut(Some("length")) && cut(Some("max_tokens")));
        assert!(!cut(None) && !cut(Some("stop")) && !cut(Some("tool_calls")));
    }
}
