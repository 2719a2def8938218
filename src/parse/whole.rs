//! An answer as parsers see it: its text, and its other parts.

use serde_json::{Map, Value};

/// The parts that can be an answer without a text.
const SAYING: [&str; 6] =
    ["audio", "content_parts", "function_call", "images", "refusal", "tool_calls"];

/// The finish reasons of answers that were cut off, as providers spell them.
const CUT_OFF: [&str; 6] = [
    "length",
    "ERROR_LIMIT",
    "max_tokens",
    "MAX_TOKENS",
    "model_length",
    "model_context_window_exceeded",
];

/// The finish reasons of answers that the model, or a filter of its provider, refuses.
const REFUSED: [&str; 12] = [
    // Anthropic
    "refusal",
    // OpenAI, Azure and servers like them
    "content_filter",
    // Bedrock
    "content_filtered",
    "guardrail_intervened",
    // Cohere
    "ERROR_TOXIC",
    // Gemini, of the answer or of the prompt
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
];

/// A whole answer, about which a [`Parser`](super::Parser) decides. Nothing in it depends on when
/// or by which model it was recorded, so that a replay, a fork and an import lead to the same
/// decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WholeAnswer<'a> {
    /// The text; empty if there is none.
    pub text: &'a str,
    /// Why it ended (`stop`, `length`, `tool_calls`), as the provider spells it.
    pub finish_reason: Option<&'a str>,
    /// The other parts by their names, such as `tool_calls`, `refusal`, `reasoning_content` and
    /// `logprobs`.
    pub extra: Option<&'a Map<String, Value>>,
}

/// A call of a tool that a model asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolCall<'a> {
    /// The call as it is recorded.
    pub recorded: &'a Value,
    /// The id by which its result is named.
    pub id: Option<&'a str>,
    /// The name of the tool.
    pub name: Option<&'a str>,
    /// Its arguments: JSON, mostly as a text of it; null if there are none.
    pub arguments: &'a Value,
}

impl<'a> ToolCall<'a> {
    fn new(recorded: &'a Value) -> Self {
        // Name and arguments are one level deeper in chat completions.
        let inner = ["function", "custom"].into_iter().find_map(|name| recorded.get(name));
        let called = inner.unwrap_or(recorded);
        ToolCall {
            recorded,
            id: recorded["id"].as_str(),
            name: called["name"].as_str(),
            arguments: called.get("arguments").unwrap_or(&called["input"]),
        }
    }
}

impl<'a> WholeAnswer<'a> {
    /// An answer that is only a text.
    pub fn text(text: &'a str) -> Self {
        WholeAnswer { text, finish_reason: None, extra: None }
    }

    /// A part other than the text, if it is present.
    pub fn part(&self, name: &str) -> Option<&'a Value> {
        self.extra?.get(name).filter(|part| !part.is_null())
    }

    /// The tool calls that the model asks for, in order, wherever an API has them: in `tool_calls`, as the `function_call` of
    /// older models, or among the parts of the content (Anthropic).
    pub fn tool_calls(&self) -> impl Iterator<Item = ToolCall<'a>> {
        let answer = *self;
        let list = move |name| answer.part(name).and_then(Value::as_array).into_iter().flatten();
        let used = list("content_parts").filter(|part| part["type"] == "tool_use");
        list("tool_calls").chain(self.part("function_call")).chain(used).map(ToolCall::new)
    }

    /// The model's refusal, if it is separate from the text.
    pub fn refusal(&self) -> Option<&'a str> {
        self.part("refusal")?.as_str()
    }

    /// Whether the answer is refused, as far as its form says so: it has a refusal beside the text, or its finish reason is one
    /// of the model or of a filter. Words such as "I cannot help with that" are text.
    pub fn is_refused(&self) -> bool {
        let is_reason = self.finish_reason.is_some_and(|reason| REFUSED.contains(&reason));
        is_reason || self.refusal().is_some_and(|refusal| !refusal.is_empty())
    }

    /// The parts that can be an answer without a text, by name.
    pub fn saying(&self) -> impl Iterator<Item = (&'static str, &'a Value)> {
        let answer = *self;
        SAYING.into_iter().filter_map(move |name| Some((name, answer.part(name)?)))
    }

    /// True if the answer is empty: no text except white space, no tool call, no refusal, no sound.
    /// Reasoning alone is not an answer; a model out of tokens leaves only that.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.saying().next().is_none() && !self.is_refused()
    }

    /// Whether the answer was cut off because it reached the maximum length.
    pub fn is_cut_off(&self) -> bool {
        self.finish_reason.is_some_and(|reason| CUT_OFF.contains(&reason))
    }

    /// The reason why the answer lacks its end, if its stream was closed before it.
    pub fn missing_end(&self) -> Option<&'a str> {
        self.part("unended")?.as_str()
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
        let ended = |reason| WholeAnswer { finish_reason: Some(reason), ..WholeAnswer::text("") };
        for reason in ["refusal", "content_filter", "guardrail_intervened", "SAFETY"] {
            assert!(ended(reason).is_refused() && !ended(reason).is_empty(), "{reason}");
        }
        assert!(!WholeAnswer::text("I'm sorry, but I cannot help with that.").is_refused());
        assert!(!ended("stop").is_refused() && ended("stop").is_empty());
    }

    #[test]
    fn only_a_limit_cuts_an_answer_off() {
        let cut =
            |reason| WholeAnswer { finish_reason: reason, ..WholeAnswer::text("x") }.is_cut_off();
        assert!(cut(Some("length")) && cut(Some("max_tokens")) && cut(Some("MAX_TOKENS")));
        assert!(!cut(None) && !cut(Some("stop")) && !cut(Some("tool_calls")));
    }
}
