//! Finds the markers in a text.

use super::speech::Quotations;

/// A marker's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Location,
    Acquired,
    Removed,
    Suggested,
    Combat,
}

const MARKERS: [Marker; 5] =
    [Marker::Location, Marker::Acquired, Marker::Removed, Marker::Suggested, Marker::Combat];

impl Marker {
    /// The document's spelling.
    pub(super) fn name(self) -> &'static str {
        match self {
            Marker::Location => "LOCATION",
            Marker::Acquired => "ACQUIRED_ITEMS",
            Marker::Removed => "REMOVED_ITEMS",
            Marker::Suggested => "SUGGESTED_ACTIONS",
            Marker::Combat => "COMBAT",
        }
    }
}

/// A marker in a text.
#[derive(Debug)]
pub(super) struct Mark {
    /// The name.
    pub(super) marker: Marker,
    /// Where it starts, including the bullet, the bold or the quote before it.
    pub(super) start: usize,
    /// Where its value starts.
    pub(super) value: usize,
    /// What closes the characters opened before the name: `]` for `[LOCATION: Mill]`.
    pub(super) closers: Vec<char>,
    /// Whether nothing else precedes it on its line.
    pub(super) heads_line: bool,
}

/// Every marker of a text, in order.
pub(super) fn scan(text: &str) -> Vec<Mark> {
    let mut speech = Quotations::new(text);
    // A quotation that begins with a marker does not hide it.
    speech.retain(|quotation| {
        let inner = text.get(quotation.clone()).unwrap_or("");
        let word = inner.find(char::is_alphanumeric);
        word.is_some_and(|word| name_at(text, quotation.start + word).is_none())
    });
    let mut marks = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices(['L', 'A', 'R', 'S', 'C']) {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        if at < from || before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some((marker, value)) = name_at(text, at) else {
            continue;
        };
        let said = speech.around(at).and_then(|quotation| text.get(quotation.start..at));
        if said.is_some_and(|said| said.contains(char::is_alphanumeric)) {
            continue;
        }
        let mark = mark(text, from, at, marker, value);
        from = mark.value;
        marks.push(mark);
    }
    marks
}

/// The beginnings of the lines that begin with a marker.
pub(super) fn heads(text: &str) -> Vec<usize> {
    scan(text).iter().filter(|mark| mark.heads_line).map(|mark| mark.start).collect()
}

/// The marker whose name and colon are at a position, and where they end.
fn name_at(text: &str, at: usize) -> Option<(Marker, usize)> {
    let rest = text.get(at..)?;
    MARKERS.into_iter().find_map(|marker| {
        let mut rest = rest;
        for (number, part) in marker.name().split('_').enumerate() {
            if number > 0 {
                // Markdown writes `\_`, and some models a space.
                rest = rest.strip_prefix("\\_").or(rest.strip_prefix(['_', ' ']))?;
            }
            rest = rest.strip_prefix(part)?;
        }
        let rest = rest.trim_start_matches(['*', '`', '"', '”', ' ']).strip_prefix(':')?;
        Some((marker, text.len() - rest.len()))
    })
}

/// The marker with the characters around its name.
fn mark(text: &str, from: usize, at: usize, marker: Marker, colon: usize) -> Mark {
    let before = text.get(from..at).unwrap_or("");
    let bare = before.trim_end_matches(['*', '`', '"', '“', '[', '(']);
    // After a word, a character that can close something does close it.
    let opens = before.get(bare.len()..).is_some_and(|t| t.starts_with(['[', '(', '“']));
    let is_free = bare.is_empty() || bare.ends_with(char::is_whitespace) || opens;
    let opened = before.get(bare.len()..).filter(|_| is_free).unwrap_or("");
    let mut start = at - opened.len();
    let mut closers: Vec<char> = opened.chars().map(closer).collect();
    closers.dedup();
    // A character that is closed around the colon does not surround the value.
    let named = text.get(at..colon).unwrap_or("");
    closers.retain(|closer| !named.contains(*closer));
    let rest = text.get(colon..).unwrap_or("");
    let closes = |c: char| c == '*' || closers.contains(&c);
    let behind = rest.trim_start_matches(closes);
    let closed = rest.get(..rest.len() - behind.len()).unwrap_or("");
    closers.retain(|closer| !closed.contains(*closer));

    let line = before.rfind(['\n', '\r']).map(|end| end + 1).or((from == 0).then_some(0));
    let prefix = line.and_then(|line| text.get(from + line..start));
    let heads_line = prefix.is_some_and(is_bullet);
    if heads_line {
        start -= prefix.map_or(0, str::len);
    }
    Mark { marker, start, value: text.len() - behind.len(), closers, heads_line }
}

fn closer(opener: char) -> char {
    match opener {
        '[' => ']',
        '(' => ')',
        '“' => '”',
        same => same,
    }
}

/// White space, and the marks of a heading, a quotation or an entry of a list.
fn is_bullet(prefix: &str) -> bool {
    let trimmed = prefix.trim();
    let number = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    trimmed.chars().all(|c| "#>-*•+|".contains(c) || c.is_whitespace())
        || number.len() < trimmed.len() && matches!(number, "." | ")")
}
