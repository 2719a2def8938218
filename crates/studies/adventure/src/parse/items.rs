//! Items: the names after `ACQUIRED_ITEMS:` and `REMOVED_ITEMS:`, and places.

use std::ops::Range;

use super::speech::Quotations;
use super::words::is_abbreviated;

/// Where `and` separates two items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum And {
    /// Only before the last of several: `Rope, and Knife`.
    Ends,
    /// Also inside the last of several: `Rope, Map and Knife`.
    Closes,
    /// Anywhere, as in prose: `Rope and Knife`.
    Separates,
}

/// The items of a list without quotes.
pub(super) fn split(words: &str, and: And) -> Vec<String> {
    let mut pieces = apart(words, &[",", ";", " | ", "\n"]);
    pieces.retain(|piece| !piece.trim().is_empty());
    let several = pieces.len() > 1;
    if let Some(last) = pieces.pop() {
        let bare = last.trim_start();
        let last = bare.strip_prefix("and ").filter(|_| several).unwrap_or(last);
        // Quotes show where an item ends.
        let quoted = words.trim_start().starts_with(['"', '“']);
        if and == And::Separates || and == And::Closes && (several || quoted) {
            pieces.extend(apart(last, &[" and "]));
        } else {
            pieces.push(last);
        }
    }
    pieces.into_iter().filter_map(name).collect()
}

/// The pieces between separators that are neither in parentheses nor in quotes.
fn apart<'t>(words: &'t str, separators: &[&str]) -> Vec<&'t str> {
    let kept = GroupedText::new(words);
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in words.char_indices() {
        if at < start || kept.holds(at) {
            continue;
        }
        let rest = words.get(at..).unwrap_or("");
        if let Some(separator) = separators.iter().find(|s| rest.starts_with(**s)) {
            pieces.extend(words.get(start..at));
            start = at + separator.len();
        }
    }
    pieces.extend(words.get(start..));
    pieces
}

/// What belongs together: closed parentheses, closed quotations.
struct GroupedText {
    parentheses: Vec<Range<usize>>,
    quotations: Quotations,
}

impl GroupedText {
    fn new(words: &str) -> Self {
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
        GroupedText { parentheses, quotations: Quotations::new(words) }
    }

    fn holds(&self, at: usize) -> bool {
        let next = self.parentheses.partition_point(|pair| pair.end <= at);
        self.parentheses.get(next).is_some_and(|pair| pair.start < at)
            || self.quotations.around(at).is_some()
    }
}

/// Where the bracket at the start of the text is closed, or otherwise the first closing one.
pub(super) fn closing(text: &str) -> Option<usize> {
    let inner = text.get(1..)?;
    closer(inner, ']').or_else(|| inner.find(']')).map(|at| at + 1)
}

/// Where a bracket is closed that was opened before the text.
pub(super) fn closer(text: &str, close: char) -> Option<usize> {
    let open = match close {
        ']' => '[',
        ')' => '(',
        _ => return text.find(close),
    };
    let mut depth = 0_usize;
    let found = text.char_indices().find(|(_, c)| {
        if *c == open {
            depth += 1;
        } else if *c == close {
            let closes = depth == 0;
            depth = depth.saturating_sub(1);
            return closes;
        }
        false
    });
    found.map(|(at, _)| at)
}

/// A name without the brackets, quotes and full stops that models put around it. Its own (`Hotel
/// "Grand"`, `Map [torn]`) are kept.
pub(super) fn name(text: &str) -> Option<String> {
    let around = |c: char| c.is_whitespace() || "*`,;|".contains(c);
    let trimmed = text.trim_matches(around).trim_end_matches(['-', '–', '—']).trim_end();
    let mut name = strip_full_stop(trimmed);
    for (open, close) in [('[', ']'), ('"', '"'), ('“', '”'), ('\'', '\'')] {
        name = strip_pair(name.trim_matches(around), open, close);
    }
    name_if_any(strip_full_stop(name.trim_matches(around)))
}

/// A text without a final full stop. The one after an abbreviation (`Jr.`) is kept.
fn strip_full_stop(text: &str) -> &str {
    let bare = text.trim_end_matches('.');
    if is_abbreviated(bare) { text } else { bare }
}

/// A text without an opening character at its start or a closing one at its end, if that does not
/// belong to anything inside.
fn strip_pair(text: &str, open: char, close: char) -> &str {
    let whole = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(inner) = whole.filter(|inner| !inner.contains([open, close])) {
        return inner;
    }
    let (opened, closed) = (text.matches(open).count(), text.matches(close).count());
    // An apostrophe is unpaired.
    let is_odd = if open == close { open != '\'' && opened % 2 == 1 } else { opened != closed };
    if !is_odd {
        return whole.filter(|inner| nests(inner, open, close)).unwrap_or(text);
    }
    let start = text.strip_prefix(open).filter(|_| open == close || opened > closed);
    let end = text.strip_suffix(close).filter(|_| open == close || closed > opened);
    start.or(end).unwrap_or(text)
}

/// Whether the brackets inside are balanced by themselves: `a [b] c`, but not `a] b [c`.
fn nests(inner: &str, open: char, close: char) -> bool {
    let mut depth = 0_usize;
    open != close
        && inner.chars().all(|c| {
            let closes = c == close;
            depth += usize::from(c == open);
            let fits = !closes || depth > 0;
            depth -= usize::from(closes && depth > 0);
            fits
        })
}

/// A name, unless it says that there is none.
pub(super) fn name_if_any(trimmed: &str) -> Option<String> {
    let is_none = [
        "", "...", "…", "none", "n/a", "null", "unchanged", "false", "nobody", "no one",
        "no combat", "no opponent",
    ];
    let bare = trimmed.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(trimmed);
    (!is_none.iter().any(|n| bare.eq_ignore_ascii_case(n))).then(|| trimmed.to_owned())
}
