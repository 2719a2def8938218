//! The markers in a game master's answer, and the story without them.
//!
//! - A marker is one of the document's names in capitals and a colon, also in bold, on a line of
//!   its own or in the middle of one.
//! - A list in brackets is JSON, or items with commas between. Without brackets, a list goes to the
//!   end of the line or to the next marker. Behind a marker that stands inside a sentence, a text
//!   that goes on in lower case or has a sentence's punctuation is story, and the list is empty.
//! - A place or an opponent goes to the end of the line or to the next marker; inside a sentence,
//!   to the end of that sentence.
//! - What goes on behind a marker in lower case continues the sentence before it.

use serde_json::Value;

use super::model::Narrative;
use super::suggested::{actions_from_lines, actions_from_value};
use crate::parse::json_repair;

/// A marker's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Location,
    Acquired,
    Removed,
    Suggested,
    Combat,
}

const NAMES: [(&str, Marker); 5] = [
    ("LOCATION", Marker::Location),
    ("ACQUIRED_ITEMS", Marker::Acquired),
    ("REMOVED_ITEMS", Marker::Removed),
    ("SUGGESTED_ACTIONS", Marker::Suggested),
    ("COMBAT", Marker::Combat),
];

/// Takes the markers out of a text into the narrative, whose story is what remains.
pub(super) fn take(text: &str, narrative: &mut Narrative, warnings: &mut Vec<String>) {
    let mut story = Story::default();
    let mut at = 0;
    let mut seen: Vec<Marker> = Vec::new();
    while let Some((start, marker, after)) = next_marker(text, at) {
        let before = text.get(at..start).unwrap_or_default();
        let inline = story.push(before);
        if seen.contains(&marker) && matches!(marker, Marker::Location | Marker::Combat) {
            warnings.push("a marker stands twice: the last one counts".to_owned());
        }
        seen.push(marker);
        let end = value(text, after, marker, inline, narrative, warnings);
        story.gap = true;
        at = end.max(after);
    }
    story.push(text.get(at..).unwrap_or_default());
    narrative.narrative = story.finish();
}

/// Whether there is any marker.
pub(super) fn any(text: &str) -> bool {
    next_marker(text, 0).is_some()
}

/// The next marker from `at` on: where it starts, which it is, where its value starts.
fn next_marker(text: &str, at: usize) -> Option<(usize, Marker, usize)> {
    let rest = text.get(at..)?;
    rest.match_indices(['L', 'A', 'R', 'S', 'C']).find_map(|(i, _)| {
        let start = at + i;
        let before = text.get(..start).and_then(|t| t.chars().next_back());
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let (marker, after) = marker_at(text, start)?;
        let bold = text.get(..start).map_or(0, |t| t.len() - t.trim_end_matches('*').len());
        Some((start - bold.min(i), marker, after))
    })
}

/// The marker at a position, and where its value starts.
fn marker_at(text: &str, start: usize) -> Option<(Marker, usize)> {
    let rest = text.get(start..)?;
    NAMES.iter().find_map(|(name, marker)| {
        let rest = rest.strip_prefix(name)?;
        let rest = rest.trim_start_matches(['*', ' ']).strip_prefix(':')?;
        Some((*marker, text.len() - rest.trim_start_matches('*').len()))
    })
}

/// Reads a marker's value from `start` on; where it ends.
fn value(
    text: &str,
    start: usize,
    marker: Marker,
    inline: bool,
    narrative: &mut Narrative,
    warnings: &mut Vec<String>,
) -> usize {
    // The value ends before the next marker. All looks ahead stay before it too: no piece of the
    // text is looked at for more than one marker.
    let limit = next_marker(text, start).map_or(text.len(), |(at, ..)| at);
    let region = text.get(..limit).unwrap_or(text);
    let end = start + line_length(region.get(start..).unwrap_or_default());
    match marker {
        Marker::Location | Marker::Combat => {
            let end = if inline { sentence_end(text, start, end) } else { end };
            let words = name(text.get(start..end).unwrap_or_default());
            let slot = if marker == Marker::Location {
                &mut narrative.location
            } else {
                &mut narrative.opponent
            };
            if words.is_some() {
                *slot = words;
            }
            end
        }
        Marker::Acquired | Marker::Removed => {
            let (items, end) = items(text, region, start, end, inline, warnings);
            if marker == Marker::Acquired {
                narrative.acquired_items.extend(items);
            } else {
                narrative.removed_items.extend(items);
            }
            end
        }
        Marker::Suggested => {
            let open = start + space(text, start);
            if !text.get(open..).is_some_and(|t| t.starts_with('[')) {
                let (actions, end) = actions_from_lines(region, start);
                narrative.suggested_actions.extend(actions);
                return end;
            }
            let (value, end) = array(text, open, warnings);
            narrative.suggested_actions.extend(actions_from_value(&value, warnings));
            end
        }
    }
}

fn line_length(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

/// The end of the first sentence: a stop and a space, unless a short word (`St.`, `Dr.`) ends so.
fn sentence_end(text: &str, start: usize, end: usize) -> usize {
    let value = text.get(start..end).unwrap_or_default();
    let stops = value.match_indices(['.', '!', '?']);
    let found = stops.map(|(at, _)| at).find(|at| {
        let ends_word = value.get(at + 1..).is_none_or(|t| t.is_empty() || t.starts_with(' '));
        let word = || value.get(..*at).and_then(|t| t.rsplit(' ').next()).unwrap_or_default();
        ends_word && word().chars().count() > 2
    });
    found.map_or(end, |at| start + at + 1)
}

/// A name without the brackets, quotes and stops that models put around it.
fn name(text: &str) -> Option<String> {
    let trimmed = text.trim().trim_matches(|c| matches!(c, '[' | ']' | '"' | '*' | '`')).trim();
    // A sentence's full stop goes, one behind a short word (`Jr.`) stays.
    let ends_long = |t: &&str| t.rsplit(' ').next().is_some_and(|word| word.chars().count() > 3);
    named(trimmed.strip_suffix('.').filter(ends_long).unwrap_or(trimmed))
}

/// A name, unless it says that there is none.
fn named(trimmed: &str) -> Option<String> {
    let is_none = ["", "...", "…", "none", "n/a", "null", "unchanged", "false"];
    (!is_none.iter().any(|n| trimmed.eq_ignore_ascii_case(n))).then(|| trimmed.to_owned())
}

fn space(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.len() - rest.trim_start().len()
}

/// The items of a list, and where it ends.
fn items(
    text: &str,
    region: &str,
    start: usize,
    end: usize,
    inline: bool,
    warnings: &mut Vec<String>,
) -> (Vec<String>, usize) {
    let open = start + space(text, start);
    let rest = region.get(open..).unwrap_or_default();
    if rest.starts_with('[') {
        let is_json = rest.get(1..).is_some_and(|t| t.trim_start().starts_with(['"', '{', '\'']));
        let line = line_length(rest);
        let close = rest.find(']').filter(|close| *close < line || !inline);
        if !is_json {
            let close = close.unwrap_or_else(|| {
                warnings.push("a list of items is not closed".to_owned());
                line
            });
            let words = rest.get(1..close).unwrap_or_default();
            return (split(words), (open + close + 1).min(text.len()));
        }
        let (value, end) = array(text, open, warnings);
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        return (items.iter().filter_map(item).collect(), end);
    }
    let words = text.get(start..end).unwrap_or_default();
    let first = words.trim_start().chars().next();
    let is_story = inline
        && (first.is_some_and(char::is_lowercase) || words.contains(['.', '!', '?', '(', ':']));
    if is_story { (Vec::new(), start) } else { (split(words), end) }
}

/// An item of a JSON array: a text, or an object with a name. Its quotes and brackets are its own.
fn item(value: &Value) -> Option<String> {
    let text = value.as_str().or_else(|| value.get("name")?.as_str())?;
    named(text.trim())
}

fn split(words: &str) -> Vec<String> {
    words.split([',', ';', '\n']).filter_map(name).collect()
}

/// The JSON array at `open`, and where it ends.
fn array(text: &str, open: usize, warnings: &mut Vec<String>) -> (Value, usize) {
    let embedded = json_repair::first(text.get(open..).unwrap_or_default());
    let Some(embedded) = embedded else {
        return (Value::Null, open);
    };
    warnings.extend(embedded.repairs.iter().map(|r| format!("JSON: {}", r.as_str())));
    (embedded.value, open + embedded.end)
}

/// The story while it is put together again.
#[derive(Default)]
struct Story {
    text: String,
    /// A marker was taken out at the end.
    gap: bool,
    /// The last line has something on it.
    filled: bool,
}

impl Story {
    /// Adds a piece of the answer; whether its last line has something on it.
    fn push(&mut self, piece: &str) -> bool {
        let mut piece = piece;
        if self.gap && !self.filled {
            // The marker had the line to itself: the line goes.
            let rest = piece.trim_start_matches([' ', '\t']);
            piece = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(piece);
        }
        let trimmed = piece.trim_start_matches([' ', '\t', '*']);
        if self.gap && !trimmed.trim().is_empty() {
            self.gap = false;
            if trimmed.starts_with(char::is_lowercase) {
                // It continues the sentence that the markers interrupted.
                self.text.truncate(self.text.trim_end().len());
                self.text.push(' ');
                self.text.push_str(trimmed);
            } else if trimmed.starts_with(['\n', '\r']) {
                self.text.push_str(trimmed);
            } else {
                let at_word = self.text.ends_with(|c: char| !c.is_whitespace());
                self.text.push_str(if at_word { " " } else { "" });
                self.text.push_str(trimmed);
            }
        } else {
            self.text.push_str(if self.gap { piece.trim_matches([' ', '\t']) } else { piece });
        }
        let line = piece.rsplit(['\n', '\r']).next().unwrap_or_default();
        let goes_on = line.len() == piece.len() && self.filled;
        self.filled = goes_on || !line.trim().is_empty();
        self.filled
    }

    /// The story: lines without space at their ends, no more than one empty line in a row.
    fn finish(self) -> String {
        let mut story = String::with_capacity(self.text.len());
        let mut empty = 0_usize;
        for line in self.text.lines().map(str::trim) {
            if line.is_empty() {
                empty += 1;
                continue;
            }
            if !story.is_empty() {
                story.push_str(if empty > 0 { "\n\n" } else { "\n" });
            }
            empty = 0;
            let mut space = false;
            for c in line.chars() {
                let is_space = c == ' ' || c == '\t';
                if !(is_space && space) {
                    story.push(c);
                }
                space = is_space;
            }
        }
        story
    }
}
