//! Items: the names that stand behind `ACQUIRED_ITEMS:` and `REMOVED_ITEMS:`, and places.

use std::ops::Range;

use serde_json::Value;

use super::speech::Quotations;
use super::words::is_abbreviated;

/// Whether `and` stands between two items, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum And {
    /// Only in front of the last of several: `Rope, and Knife`.
    Ends,
    /// Also inside the last of several: `Rope, Map and Knife`.
    Closes,
    /// Anywhere, as in prose: `Rope and Knife`.
    Separates,
}

/// The items of a list without quotes.
pub(super) fn split(words: &str, and: And) -> Vec<String> {
    let mut pieces = apart(words, &[",", ";", "\n"]);
    pieces.retain(|piece| !piece.trim().is_empty());
    let several = pieces.len() > 1;
    if let Some(last) = pieces.pop() {
        let bare = last.trim_start();
        let last = bare.strip_prefix("and ").filter(|_| several).unwrap_or(last);
        if and == And::Separates || and == And::Closes && several {
            pieces.extend(apart(last, &[" and "]));
        } else {
            pieces.push(last);
        }
    }
    pieces.into_iter().filter_map(name).collect()
}

/// The pieces between separators, of which none stands in parentheses or in quotes.
fn apart<'t>(words: &'t str, separators: &[&str]) -> Vec<&'t str> {
    let kept = Kept::of(words);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in words.char_indices() {
        if at < start || kept.holds(at) {
            continue;
        }
        let rest = words.get(at..).unwrap_or_default();
        if let Some(separator) = separators.iter().find(|s| rest.starts_with(**s)) {
            pieces.extend(words.get(start..at));
            start = at + separator.len();
        }
    }
    pieces.extend(words.get(start..));
    pieces
}

/// What belongs together: closed parentheses, closed quotations.
struct Kept {
    parentheses: Vec<Range<usize>>,
    quotations: Quotations,
}

impl Kept {
    fn of(words: &str) -> Self {
        let mut parentheses: Vec<Range<usize>> = Vec::new();
        let mut open = Vec::new();
        for (at, c) in words.char_indices() {
            match c {
                '(' => open.push(at),
                ')' => {
                    if let Some(start) = open.pop() {
                        // Those inside are part of this one.
                        let outside = parentheses.partition_point(|inner| inner.start < start);
                        parentheses.truncate(outside);
                        parentheses.push(start..at);
                    }
                }
                _ => {}
            }
        }
        Kept { parentheses, quotations: Quotations::of(words) }
    }

    fn holds(&self, at: usize) -> bool {
        let next = self.parentheses.partition_point(|pair| pair.end <= at);
        self.parentheses.get(next).is_some_and(|pair| pair.start < at)
            || self.quotations.around(at).is_some()
    }
}

/// The bracket that closes the one a text starts with.
pub(super) fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let closes = text.char_indices().find(|(_, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    closes.map(|(at, _)| at).filter(|at| *at > 0).or_else(|| text.find(']'))
}

/// An item of a JSON array: a text, or an object with a name. Its quotes and brackets are its own.
pub(super) fn item(value: &Value) -> Option<String> {
    let text = value.as_str().or_else(|| value.get("name")?.as_str())?;
    named(text.trim())
}

/// A name without the brackets, quotes and stops that models put around it.
pub(super) fn name(text: &str) -> Option<String> {
    let around = |c: char| c.is_whitespace() || "\"“”*`,;|".contains(c);
    let trimmed = text.trim_matches(around).trim_end_matches(['-', '–', '—']).trim_end();
    // A sentence's full stop goes, one behind an abbreviation (`Jr.`) stays.
    let whole = |t: &&str| !is_abbreviated(t) && !t.ends_with('.');
    let trimmed = trimmed.strip_suffix('.').filter(whole).unwrap_or(trimmed);
    let open = trimmed.trim_end_matches(around).strip_prefix('[').unwrap_or(trimmed);
    let closes_nothing = open.matches(']').count() > open.matches('[').count();
    let inner = open.strip_suffix(']').filter(|_| closes_nothing).unwrap_or(open);
    named(inner.trim_matches(around))
}

/// A name, unless it says that there is none.
fn named(trimmed: &str) -> Option<String> {
    let is_none = ["", "...", "…", "none", "n/a", "null", "unchanged", "false"];
    (!is_none.iter().any(|n| trimmed.eq_ignore_ascii_case(n))).then(|| trimmed.to_owned())
}
