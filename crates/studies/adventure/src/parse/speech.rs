//! Quotations on one line: a character's speech.
//!
//! A marker's name within speech is not a marker. A quotation that is not closed on its line, or
//! that begins with a marker, does not hide it: models put markers in quotes, and leave quotes
//! open.

use std::ops::Range;

/// A closed quotation, with its quotes.
pub(super) type Quotation = Range<usize>;

/// The quotations in straight and in curly quotes, each in order. Straight ones do not overlap each
/// other, and neither do curly ones.
pub(super) struct Quotations {
    straight: Vec<Quotation>,
    curly: Vec<Quotation>,
}

impl Quotations {
    /// Those of a text.
    pub(super) fn new(text: &str) -> Self {
        let mut found = Quotations { straight: Vec::new(), curly: Vec::new() };
        let (mut straight, mut curly) = (None, None);
        let mut before = ' ';
        let mut characters = text.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            match c {
                '\n' | '\r' => (straight, curly) = (None, None),
                '“' => curly = Some(at),
                '”' => found.curly.extend(curly.take().map(|open| open..at + c.len_utf8())),
                '"' if opens(before, characters.peek().map(|(_, next)| *next)) => {
                    // An earlier quote that is still open was never closed.
                    straight = Some(at);
                }
                '"' => found.straight.extend(straight.take().map(|open| open..at + 1)),
                _ => {}
            }
            before = c;
        }
        found
    }

    /// Keeps only those that satisfy a condition.
    pub(super) fn retain(&mut self, holds: impl Fn(&Quotation) -> bool) {
        self.straight.retain(&holds);
        self.curly.retain(&holds);
    }

    /// The quotation around a position.
    pub(super) fn around(&self, at: usize) -> Option<&Quotation> {
        [&self.straight, &self.curly].into_iter().find_map(|all| {
            let next = all.partition_point(|quotation| quotation.end <= at);
            all.get(next).filter(|quotation| quotation.start < at)
        })
    }
}

/// Whether a straight quote between these two opens a quotation.
fn opens(before: char, next: Option<char>) -> bool {
    let is_free = before.is_whitespace() || "([{*_:-–—,“".contains(before);
    is_free && next.is_some_and(|next| !next.is_whitespace())
}
