//! The answer on which a decision rests.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::indent;
use retold::audit::{Audit, Link};
use retold::content::Content;
use retold::escaping::printable;
use retold::event::{Event, ResponseDetails};
use retold::model::{HTTP, NOT_READ, UNENDED, choice_count, other_choices};
use retold::parse::{ToolCall, WholeAnswer};
use retold::run::{AnswerDetails, Shortcomings};

/// The answer's text, and its other known properties.
pub(super) fn answer_of(event: &Event) -> (&str, String) {
    match event {
        Event::ResponseReceived(r) => {
            let details = shown_details(&r.details);
            (r.content.text(), details)
        }
        Event::AnswerReused(r) => {
            let from = format!("reused from run {} seq {}", r.from_run, r.from_seq);
            let details = shown_details(&r.details);
            (r.content.text(), if details == "{}" { from } else { format!("{from}  {details}") })
        }
        _ => ("", String::new()),
    }
}

/// The properties of an answer for people. The body that a program received says the same once more.
fn shown_details(details: &ResponseDetails) -> String {
    let mut details = details.clone();
    details.extra.remove(HTTP);
    json!(details).to_string()
}

/// The recorded parts of an answer other than its text.
pub(super) fn details_of(event: &Event) -> Option<(&Content, &ResponseDetails)> {
    match event {
        Event::ResponseReceived(r) => Some((&r.content, &r.details)),
        Event::AnswerReused(r) => Some((&r.content, &r.details)),
        _ => None,
    }
}

/// The parts of an answer next to its text: tool calls, and a refusal.
fn parts_text(extra: &Map<String, Value>) -> String {
    let whole = WholeAnswer { extra: Some(extra), ..WholeAnswer::text("") };
    let mut out = String::new();
    for ToolCall { recorded, id, name, arguments } in whole.tool_calls() {
        let line = match name {
            Some(name) => {
                let arguments =
                    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
                let id = id.map(|id| format!("  ({})", printable(id, 100)));
                format!("{}({arguments}){}", printable(name, 100), id.unwrap_or_default())
            }
            None => recorded.to_string(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  tool call\n{}", indent(&line));
    }
    if let Some(refusal) = whole.refusal() {
        let _ = writeln!(out, "  refusal\n{}", indent(refusal));
    }
    out
}

/// How an answer falls short; not at all without an answer.
pub(super) fn shortcomings(event: &Event) -> Shortcomings {
    Shortcomings::of(event).unwrap_or_default()
}

/// Whether an answer was refused without words about it beside its text: its finish reason alone says so.
fn ended_as_refusal(event: &Event) -> bool {
    details_of(event).is_some_and(|(content, details)| {
        let beside = AnswerDetails::new(content, details.clone());
        let whole = beside.whole(content);
        whole.is_refused() && whole.refusal().is_none()
    })
}

/// How many choices the answer has.
pub(super) fn choices(audit: &Audit) -> u32 {
    let details = audit.answer.as_ref().and_then(|answer| details_of(&answer.event));
    details.map_or(1, |(_, details)| choice_count(&details.extra))
}

/// The answer, with its shortcomings, and each of its choices.
pub(super) fn answer_text(Link { seq, event, .. }: &Link<Event>, choices: u32) -> String {
    let mut out = String::new();
    let (text, details) = answer_of(event);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\nanswer  seq {seq}");
    let Shortcomings { blank, cut_off, not_read, .. } = shortcomings(event);
    if blank > 0 {
        let _ = writeln!(out, "  blank: neither a text nor a tool call nor a refusal");
    }
    if ended_as_refusal(event) {
        let _ = writeln!(out, "  refused: the model or a filter of its provider ended the answer");
    }
    if cut_off > 0 {
        let _ = writeln!(out, "  cut off: it had reached the limit of tokens");
    }
    let unended = details_of(event).and_then(|(_, details)| details.extra.get(UNENDED));
    if let Some(why) = unended.and_then(Value::as_str) {
        let _ = writeln!(out, "  without its end: {}", printable(why, 200));
    }
    if not_read > 0 {
        let _ = writeln!(
            out,
            "  {NOT_READ}: no file of retold's describes this API; this is the whole body"
        );
    }
    if choices > 1 {
        let _ = writeln!(out, "  the first of {choices} choices");
    }
    let parts = details_of(event).map(|(_, details)| parts_text(&details.extra));
    let parts = parts.unwrap_or_default();
    if !text.is_empty() || parts.is_empty() {
        let _ = writeln!(out, "{}", indent(text));
    }
    out.push_str(&parts);
    let others = details_of(event).map(|(_, details)| other_choices(&details.extra));
    for (other, at) in others.unwrap_or_default().iter().zip(1..) {
        let _ = writeln!(out, "  choice {at}");
        if !other.text.is_empty() {
            let _ = writeln!(out, "{}", indent(&other.text));
        }
        out.push_str(&parts_text(&other.extra));
    }
    if details != "{}" {
        let _ = writeln!(out, "  recorded with it: {details}");
    }
    out
}
