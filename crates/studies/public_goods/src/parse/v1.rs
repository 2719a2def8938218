//! Version 1: the document's priority lists, as its program implemented them.
//!
//! Where the document is not specific, the original program's behaviour decides, confirmed on every
//! row of its logs:
//! - a contribution's tag only counts if it contains nothing but digits; with a `-` it is not a
//!   tag;
//! - "the first number" is the first run of digits that is a separate word, anywhere in the text,
//!   including the reasoning. An answer that was cut off before its closing tag therefore yields
//!   the first number in the reasoning. This is kept, with a method that says so;
//! - redistributions are truncated or padded with zeros to the number of targets, and negative
//!   numbers in the array become zero;
//! - where the original program would have failed with an exception (infinite numbers, integers
//!   with more than 4,300 digits), the text is left to the next strategy.

use serde_json::Value;

use super::{ChatParams, ContributionParams, RedistributionParams};
use retold::parse::python::{
    digit, digit_runs, head, int, is_space, is_word, number, strip, strip_prefix,
};
use retold::parse::{FoundValue, Strategy};

pub(super) const CONTRIBUTION: &[Strategy<ContributionParams, i64>] = &[
    Strategy { method: "contribute_tag", find: contribute_tag },
    Strategy { method: "whole_text_integer", find: whole_text_integer },
    Strategy { method: "first_number", find: first_number },
];

pub(super) const REDISTRIBUTION: &[Strategy<RedistributionParams, Vec<i64>>] = &[
    Strategy { method: "redistribute_tag", find: redistribute_tag },
    Strategy { method: "whole_text_array", find: whole_text_array },
    Strategy { method: "all_numbers", find: all_numbers },
];

pub(super) const CHAT: &[Strategy<ChatParams, String>] =
    &[Strategy { method: "message_tag", find: message_tag }];

/// `<CONTRIBUTE>\s*(\d+)\s*</CONTRIBUTE>`, ignoring case; the first match.
fn contribute_tag(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let digits = openings(text, "<CONTRIBUTE>").find_map(|content| {
        let content = content.trim_start_matches(is_space);
        // Only the digits here: a search would read the rest of the text for each tag.
        let end = content.find(|c| digit(c).is_none()).unwrap_or(content.len());
        let (digits, rest) =
            content.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())?;
        strip_prefix(rest.trim_start_matches(is_space), "</CONTRIBUTE>").map(|_| digits)
    })?;
    Some(coins(number(digits), params))
}

fn whole_text_integer(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    Some(coins(int(text)?, params))
}

/// `\b\d+\b`.
fn first_number(text: &str, params: &ContributionParams) -> Option<FoundValue<i64>> {
    let (_, digits) = digit_runs(text).find(|(at, digits)| {
        let before = text.get(..*at).and_then(|t| t.chars().next_back());
        let after = text.get(at + digits.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })?;
    Some(coins(number(digits), params))
}

fn coins(amount: i64, params: &ContributionParams) -> FoundValue<i64> {
    FoundValue::plain(amount.clamp(0, params.endowment()))
}

fn redistribute_tag(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    units(content(text, "<REDISTRIBUTE>", "</REDISTRIBUTE>")?, params)
}

fn whole_text_array(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    units(text, params)
}

fn all_numbers(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    digit_runs(text).next()?;
    let numbers = digit_runs(text).take(params.targets).map(|(_, digits)| number(digits));
    Some(pad(numbers.collect(), params))
}

/// A JSON array of anything that Python's `int` accepts.
fn units(text: &str, params: &RedistributionParams) -> Option<FoundValue<Vec<i64>>> {
    let Ok(Value::Array(items)) = serde_json::from_str(strip(text)) else {
        return None;
    };
    let units = items.iter().take(params.targets).map(|item| to_int(item).map(|n| n.max(0)));
    Some(pad(units.collect::<Option<_>>()?, params))
}

fn to_int(item: &Value) -> Option<i64> {
    match item {
        Value::Bool(yes) => Some(i64::from(*yes)),
        // A float is truncated towards zero; one that is too large becomes the maximum.
        #[expect(clippy::cast_possible_truncation, reason = "saturates, as intended")]
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(|f| f as i64)),
        Value::String(text) => int(text),
        _ => None,
    }
}

fn pad(mut units: Vec<i64>, params: &RedistributionParams) -> FoundValue<Vec<i64>> {
    units.resize(params.targets, 0);
    FoundValue::plain(units)
}

fn message_tag(text: &str, params: &ChatParams) -> Option<FoundValue<String>> {
    Some(clean(content(text, "<MESSAGE>", "</MESSAGE>")?, params))
}

/// The last resort: the whole text is the message.
pub(super) fn whole_text(text: &str, params: &ChatParams) -> FoundValue<String> {
    clean(text, params)
}

/// The phrases that the original program removes, each once, in this order.
const PREFIXES: [&str; 6] =
    ["I say: ", "I would say: ", "My message is: ", "I respond: ", "I send: ", "Message: "];

fn clean(text: &str, params: &ChatParams) -> FoundValue<String> {
    let mut message = strip(text);
    for prefix in PREFIXES {
        let start = message.get(..prefix.len());
        if start.is_some_and(|start| start.eq_ignore_ascii_case(prefix)) {
            message = strip(message.get(prefix.len()..).unwrap_or(""));
        }
    }
    FoundValue::plain(shorten(strip(without_quotes(message)), params.max_chars))
}

/// Removes quotes around the whole message. A single quote character counts as both.
fn without_quotes(message: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = message.strip_prefix(quote)
            && message.ends_with(quote)
        {
            return rest.strip_suffix(quote).unwrap_or(rest);
        }
    }
    message
}

pub(super) fn shorten(message: &str, max_chars: usize) -> String {
    let kept = head(message, max_chars);
    if kept.len() < message.len() { format!("{kept}...") } else { message.to_owned() }
}

/// What follows each opening tag, ignoring case.
fn openings<'t>(text: &'t str, tag: &'static str) -> impl Iterator<Item = &'t str> {
    text.match_indices('<').filter_map(move |(at, _)| strip_prefix(text.get(at..)?, tag))
}

/// `<TAG>\s*(.+?)\s*</TAG>`: from the first opening tag that is followed by a closing one. The
/// content has at least one character, so a closing tag directly after the opening one is itself
/// content.
fn content<'t>(text: &'t str, open: &'static str, close: &'static str) -> Option<&'t str> {
    let rest = openings(text, open).next()?;
    let filled = rest.trim_start_matches(is_space);
    closing(filled, close).or_else(|| closing(rest, close)).map(strip)
}

/// The text before the first closing tag that is not at the very start.
fn closing<'t>(text: &'t str, close: &str) -> Option<&'t str> {
    let mut ends = text.match_indices('<').map(|(at, _)| at).filter(|at| *at > 0);
    let end = ends.find(|at| text.get(*at..).is_some_and(|t| strip_prefix(t, close).is_some()))?;
    text.get(..end)
}
