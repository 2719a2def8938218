//! Prose for display: without markers, dice and states in brackets.

use super::model::Narrative;
use super::{markers, split_reasoning};

/// The text on one line, without reasoning, markers (with their values), dice rolls in square
/// brackets (`[Roll: 15/20]`) and states of a fighter (`(Unconscious)`).
#[must_use]
pub fn clean_text(text: &str) -> String {
    let mut narrative = Narrative::default();
    markers::take(split_reasoning(text).1, &mut narrative, &mut Vec::new());
    let plain = without(&narrative.narrative, '[', ']', |inner| inner.starts_with("Roll:"));
    let states = ["Unconscious", "Wounded", "Defeated", "Dead", "Stunned"];
    let plain = without(&plain, '(', ')', |inner| states.contains(&inner));
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text without the contents of these brackets, where they should be removed.
fn without(text: &str, open: char, close: char, goes: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(open) {
        out.push_str(before);
        // Up to the next bracket of either kind, so that no text is examined twice.
        let end = behind
            .find([open, close])
            .filter(|end| behind.get(*end..).is_some_and(|t| t.starts_with(close)));
        let inner = end.and_then(|end| behind.get(..end));
        match inner.filter(|inner| goes(inner.trim())) {
            Some(inner) => rest = behind.get(inner.len() + close.len_utf8()..).unwrap_or(""),
            None => {
                out.push(open);
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}
