//! The lines that a filter reads and writes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::decide::params::without_place;
use crate::decide::{AnswerDecision, UndecidedAnswer};
use crate::escaping::printable;
use crate::event::FILTER;
use crate::explain::explain;
use crate::id::{CallPath, Sample};
use crate::jsonl::JsonlError;
use crate::parse::WholeAnswer;
use crate::prompt::{CanonicalError, canonical};

/// The longest method name, in characters.
const LONGEST_METHOD: usize = 100;

#[derive(Serialize)]
struct FilterInput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a CallPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<Sample>,
    /// Only where the answer has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<u32>,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Value::is_null")]
    params: &'a Value,
}

/// The line for an answer.
pub(super) fn input_line(asked: &UndecidedAnswer<'_>) -> String {
    let UndecidedAnswer {
        call,
        sample,
        choice,
        answer: WholeAnswer { text, finish_reason, extra },
        params,
    } = *asked;
    let extra = extra.filter(|extra| !extra.is_empty());
    let (choice, choices) = (choice.among_several(), choice.among_several().map(|_| choice.of));
    let given = FilterInput { call, sample, choice, choices, text, finish_reason, extra, params };
    // Texts and JSON values always have a JSON form.
    let mut line = serde_json::to_string(&given).unwrap_or_default();
    line.push('\n');
    line
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilterOutput {
    /// Distinguishes null, which is a value, from an absent key.
    #[serde(deserialize_with = "value_or_null")]
    value: Value,
    #[serde(default = "filter")]
    method: String,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

fn value_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Value::deserialize(deserializer)
}

fn filter() -> String {
    FILTER.to_owned()
}

/// Why a filter's output is not decisions.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputProblem {
    /// It cannot be read as lines of text.
    #[error(transparent)]
    Unreadable(#[from] JsonlError),
    /// A line is not a decision.
    #[error("its output, line {line}: {source}")]
    Line {
        /// Its number.
        line: usize,
        /// The problem with it.
        source: LineProblem,
    },
}

/// Why a line is not a decision.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// Something else than an object.
    #[error("it is not a JSON object {{\"value\":..}} but {0}")]
    NotAnObject(String),
    /// Not JSON, or an object of another form.
    #[error("{}", printable(&explain(&without_place(.0)), 400))]
    Json(#[from] serde_json::Error),
    /// The method has no name that can be shown.
    #[error("\"method\" is a name of at most {LONGEST_METHOD} characters, not {0:?}")]
    Method(String),
    /// The value cannot be kept.
    #[error("\"value\": {0}")]
    Value(#[from] CanonicalError),
}

/// The decision in a line.
pub(super) fn read(text: &str) -> Result<AnswerDecision, LineProblem> {
    if !text.trim_start().starts_with('{') {
        return Err(LineProblem::NotAnObject(printable(text.trim(), 80)));
    }
    let FilterOutput { value, method, reasoning, warnings } = serde_json::from_str(text)?;
    let too_long = method.chars().count() > LONGEST_METHOD;
    if method.is_empty() || too_long || method.chars().any(char::is_control) {
        return Err(LineProblem::Method(printable(&method, 80)));
    }
    canonical(&value)?;
    Ok(AnswerDecision { method, value, reasoning, warnings, verdict: None, found: None })
}
