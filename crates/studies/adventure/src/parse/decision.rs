//! The player's decision, wherever it is in an answer.
//!
//! A decision needs a question and at least two options with a text and an impact; other options
//! are left out, with a warning. Otherwise it is rejected, with the reason. The importance is
//! `moderate` if it is missing or, with a warning, not one of the four.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use super::model::{DecisionOption, Importance, Narrative, StoryDecision};
use super::scan::heads;
use super::suggested::non_empty;
use retold::escaping::printable;
use retold::parse::json_repair;
use retold::parse::keys::lookup;
use retold::parse::vote::comparable;

/// The words of the key, which models separate with `_` or a space, in upper or lower case.
const KEY: [&str; 2] = ["player", "decision"];
/// The notation for no decision.
const NOTHING: &str = "null";

/// Whether a text contains the key.
pub(super) fn any(text: &str) -> bool {
    keys(text).next().is_some()
}

/// The positions of the key in a text, in any spelling (`playerDecision`, `PLAYER_DECISION`).
fn keys(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices(['p', 'P']).filter_map(|(at, _)| {
        let rest = after_word(text.get(at..)?, KEY[0])?;
        let rest = rest.strip_prefix("\\_").or(rest.strip_prefix(['_', ' '])).unwrap_or(rest);
        Some(at..text.len() - after_word(rest, KEY[1])?.len())
    })
}

/// What follows a word at the start of a text, ignoring case.
fn after_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

/// Removes every `playerDecision: {..}` from a text; the first valid one counts. Returns the rest
/// of the text.
pub(super) fn take(text: &str, narrative: &mut Narrative, warnings: &mut Vec<String>) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    // A decision that is not closed ends before the next line that begins with a marker.
    let heads = if any(text) { heads(text) } else { Vec::new() };
    for key in keys(text) {
        let Some((open, is_fenced)) = object_after(text, key.end).filter(|_| key.start >= at)
        else {
            continue;
        };
        rest.push_str(text.get(at..key.start).unwrap_or(""));
        // Remove what surrounds the key, a brace around the pair, and the fence around that.
        undress(&mut rest);
        let wrapped = trim_end(&mut rest, '{');
        at = open;
        let next = heads.get(heads.partition_point(|head| *head <= open));
        let inner = text.get(open..next.copied().unwrap_or(text.len())).unwrap_or("");
        if let Some(after) = inner.strip_prefix(NOTHING) {
            at = open + NOTHING.len() + usize::from(after.starts_with(','));
        } else if let Some(embedded) = json_repair::first(inner) {
            at = open + embedded.end;
            warnings.extend(embedded.repairs.iter().map(|r| format!("JSON: {}", r.as_str())));
            accept(&embedded.value, narrative, warnings);
        }
        if is_fenced {
            at = skip_closer(text, at, "```");
        }
        if wrapped {
            at = skip_closer(text, at, "}");
        }
        at = close_fence(text, at, &mut rest);
        // The white space before it is removed as well: it is examined once.
        rest.truncate(rest.trim_end().len());
        rest.push('\n');
    }
    let tail = text.get(at..).unwrap_or("");
    if at > 0 && tail.trim().is_empty() {
        rest.truncate(rest.trim_end().len());
        return rest;
    }
    rest.push_str(tail);
    rest
}

/// Where the object (or the `null`) after a key starts, if there is a colon and one of these, and
/// whether a fence surrounds it.
fn object_after(text: &str, at: usize) -> Option<(usize, bool)> {
    let rest = text.get(at..)?;
    let rest =
        rest.trim_start_matches(['"', '\'', '”', '*', '`']).trim_start().strip_prefix(':')?;
    let rest = rest.trim_start_matches('*').trim_start();
    let fenced = rest.strip_prefix("```");
    let fenced =
        fenced.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start());
    let value = fenced.unwrap_or(rest);
    let is_nothing = value
        .strip_prefix(NOTHING)
        .is_some_and(|rest| fenced.is_none() && !rest.starts_with(char::is_alphanumeric));
    let is_one = value.starts_with('{') || is_nothing;
    is_one.then(|| (text.len() - value.len(), fenced.is_some()))
}

/// Removes quotes and bold right before a key from the end, and the marks of a heading.
fn undress(text: &mut String) {
    let bare = text.trim_end_matches(['"', '\'', '“', '*', '`']);
    let line = bare.trim_end_matches([' ', '\t']).trim_end_matches('#');
    let is_heading = line.is_empty() || line.ends_with(['\n', '\r']);
    text.truncate(if is_heading { line.len() } else { bare.len() });
}

/// Removes a character from the end, with the space before it; returns whether it was there.
fn trim_end(text: &mut String, character: char) -> bool {
    let Some(before) = text.trim_end().strip_suffix(character) else {
        return false;
    };
    text.truncate(before.len());
    true
}

/// Skips white space and the given closing characters.
fn skip_closer(text: &str, at: usize, closer: &str) -> usize {
    let after = text.get(at..).unwrap_or("");
    let closed = after.trim_start().strip_prefix(closer);
    text.len() - closed.unwrap_or(after).len()
}

/// Skips the end of a fence if the text before it ends with the fence's beginning.
fn close_fence(text: &str, at: usize, rest: &mut String) -> usize {
    let before = rest.trim_end();
    let opening = before.strip_suffix("json").or_else(|| before.strip_suffix("JSON"));
    let Some(opening) = opening.unwrap_or(before).strip_suffix("```") else {
        return at;
    };
    let length = opening.len();
    let after = text.get(at..).unwrap_or("").trim_start();
    let closing = after.strip_prefix("```");
    if closing.is_none() && !after.is_empty() {
        // It is the end of a fence around something else.
        return at;
    }
    rest.truncate(length);
    closing.map_or(at, |closing| text.len() - closing.len())
}

/// Accepts a decision, or notes why it is invalid. The first valid one is kept.
pub(super) fn accept(value: &Value, narrative: &mut Narrative, warnings: &mut Vec<String>) {
    if narrative.player_decision.is_some() {
        return;
    }
    match read(value, warnings) {
        Ok(decision) => {
            narrative.player_decision = Some(decision);
            narrative.rejected_decision = None;
        }
        Err(NoDecision(reason)) => narrative.rejected_decision = Some(reason),
    }
}

/// Why an object is not a decision.
struct NoDecision(String);

fn read(value: &Value, warnings: &mut Vec<String>) -> Result<StoryDecision, NoDecision> {
    // A decision that is wrapped twice: `"playerDecision": {"playerDecision": {..}}`.
    let inner = value.as_object().and_then(|object| lookup(object, &KEY.concat()));
    let value = inner.map_or(value, |(inner, _)| inner);
    let text = |value: &Value, key: &str| non_empty(value.get(key)?.as_str()?);
    let prompt =
        text(value, "prompt").ok_or_else(|| NoDecision("the decision has no prompt".to_owned()))?;
    let given = value.get("options").and_then(Value::as_array);
    let given = given.map_or(&[][..], Vec::as_slice);
    let complete = given.iter().filter_map(|option| {
        Some(DecisionOption {
            text: text(option, "text")?,
            impact: text(option, "impact")?,
            tags: texts(option.get("tags")),
        })
    });
    // Options that look alike are not a choice.
    let (mut seen, mut alike) = (BTreeSet::new(), 0);
    let mut options: Vec<DecisionOption> = complete.collect();
    options.retain(|option| {
        let is_new = seen.insert(comparable(&option.text));
        alike += usize::from(!is_new);
        is_new
    });
    if options.len() < 2 {
        let alike = match alike {
            0 => String::new(),
            alike => format!(", {alike} of them like another"),
        };
        return Err(NoDecision(format!(
            "the decision has {} options with text and impact, of {} given{alike}: at least 2 are needed",
            options.len(),
            given.len(),
        )));
    }
    if options.len() < given.len() {
        let left_out = given.len() - options.len();
        warnings.push(format!(
            "of {} options {left_out} were left out: like another, or without text or impact",
            given.len()
        ));
    }
    let written = value.get("importance").filter(|written| !written.is_null());
    let importance = written.and_then(Value::as_str);
    let importance = match importance.map(|written| written.trim().to_lowercase()).as_deref() {
        Some("critical") => Importance::Critical,
        Some("significant") => Importance::Significant,
        Some("minor") => Importance::Minor,
        Some("moderate") => Importance::Moderate,
        _ => {
            if let Some(written) = written {
                let written = printable(&written.to_string(), 40);
                warnings.push(format!("{written} is no importance: moderate"));
            }
            Importance::Moderate
        }
    };
    let context = text(value, "context");
    Ok(StoryDecision {
        prompt,
        options,
        importance,
        context,
        characters: texts(value.get("characters")),
    })
}

/// The texts of an array, or a single text.
pub(super) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => non_empty(text).into_iter().collect(),
        Some(Value::Array(items)) => items.iter().filter_map(|i| non_empty(i.as_str()?)).collect(),
        _ => Vec::new(),
    }
}
