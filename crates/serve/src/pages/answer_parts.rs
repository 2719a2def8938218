//! What an answer has beside its text: the model's reasoning, and the tools that it calls.

use retold::char_boundary::floor;
use retold::escaping::inert_lines;
use retold::model::providers::reasoning_text;
use retold::parse::{ToolCall, WholeAnswer};
use serde::Serialize;
use serde_json::{Map, Value};

/// What an answer has beside its text, inert and cut.
#[derive(Default, Serialize)]
pub(super) struct AnswerParts {
    reasoning: Option<String>,
    tool_calls: Vec<ToolCallView>,
}

impl AnswerParts {
    /// Those in what is kept of an answer besides its text, each with so many bytes at most.
    pub(super) fn of(extra: &Map<String, Value>, most: usize) -> Self {
        let reasoning = reasoning_text(extra).map(|text| cut(&text, most).0);
        AnswerParts { reasoning, tool_calls: ToolCallView::all_in(extra, most) }
    }

    /// Whether it calls tools, which is its answer then.
    pub(super) fn has_calls(&self) -> bool {
        !self.tool_calls.is_empty()
    }
}

/// A call of a tool that a model asks for.
#[derive(Serialize)]
pub(super) struct ToolCallView {
    name: String,
    arguments: String,
    id: Option<String>,
}

impl ToolCallView {
    /// The calls in a message of a model, or in what is kept of an answer.
    pub(super) fn all_in(message: &Map<String, Value>, most: usize) -> Vec<Self> {
        let whole = WholeAnswer { extra: Some(message), ..WholeAnswer::text("") };
        whole.tool_calls().map(|call| ToolCallView::of(call, most)).collect()
    }

    fn of(ToolCall { name, arguments, id, .. }: ToolCall<'_>, most: usize) -> Self {
        // Arguments are JSON in a text.
        let arguments = match arguments {
            Value::String(text) => match serde_json::from_str::<Value>(text) {
                Ok(value) => pretty(&value),
                Err(_) => text.clone(),
            },
            other => pretty(other),
        };
        let (name, id) = (name.unwrap_or("?").to_owned(), id.map(str::to_owned));
        ToolCallView { name, arguments: cut(&arguments, most).0, id }
    }
}

/// A text cut at a length, and how many bytes of it are left out.
pub(super) fn cut(text: &str, most: usize) -> (String, usize) {
    let end = floor(text, most);
    (inert_lines(&text[..end]), text.len() - end)
}

/// A value as indented JSON.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
