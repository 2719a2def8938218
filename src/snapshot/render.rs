//! The contents of a snapshot.

use std::fmt::Write;

use serde_json::Value;

use crate::content::Content;
use crate::decide::{AnswerDecision, RecordedAnswer, RevisedDecision};
use crate::escaping::{inert_lines, printable};

/// The header of the file, as the crate `insta` writes and reads it.
pub(super) fn header(made: &RevisedDecision) -> String {
    let quoted = |text: &str| Value::from(printable(text, 200)).to_string();
    let RecordedAnswer { call, sample, choice, .. } = &made.answer;
    let description = quoted(&format!("{call}#{sample}{}", choice.suffix()));
    let expression = quoted(&made.by.to_string());
    format!(
        "---\nsource: retold check --snapshots\ndescription: {description}\nexpression: {expression}\n---\n"
    )
}

/// The decision and the answer. Lines of a text begin with a bar, so that no answer can pass for a
/// decision; characters that could control a terminal are shown as escapes.
pub(super) fn body(made: &RevisedDecision) -> String {
    let AnswerDecision { method, value, reasoning, warnings, verdict, found: _ } = &made.now;
    let mut body = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(body, "method: {}", printable(method, 200));
    match value {
        Value::String(text) if text.contains('\n') => block(&mut body, "value", text),
        Value::Object(_) | Value::Array(_) => {
            block(&mut body, "value", &format!("{value:#}"));
        }
        plain => {
            let _ = writeln!(body, "value: {}", inert_lines(&plain.to_string()));
        }
    }
    if let Some(verdict) = verdict {
        let _ = writeln!(body, "verdict: {verdict}");
    }
    if let Some(reasoning) = reasoning {
        block(&mut body, "reasoning", reasoning);
    }
    for warning in warnings {
        let _ = writeln!(body, "warning: {}", printable(warning, 2000));
    }
    let whole = made.answer.whole();
    match &made.answer.content {
        Content::Text(_) => block(&mut body, "answer", whole.text),
        Content::Vector(floats) => {
            let _ = writeln!(body, "answer: a vector of {} numbers", floats.len());
        }
    }
    // A parser may depend on these, too.
    if whole.is_cut_off() {
        body.push_str("the answer was cut off\n");
    }
    for (name, part) in whole.saying() {
        block(&mut body, name, &format!("{part:#}"));
    }
    body
}

fn block(body: &mut String, name: &str, text: &str) {
    let _ = writeln!(body, "{name}:");
    for line in text.split('\n') {
        let _ = writeln!(body, "  | {}", inert_lines(line));
    }
}
