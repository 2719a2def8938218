//! A table for other programs.

mod spool;

use std::borrow::Cow;

pub use spool::Spool;

/// Named columns and rows of text, of which a long table keeps the last in memory; written as CSV (RFC 4180, UTF-8, `\n` between lines).
///
/// Cells hold what models and files say. Control characters, which a terminal would obey, are written as
/// escapes (`\u{1b}`), but for tabs and line breaks; the log has the text as it was. A cell that begins with
/// `=`, `+`, `-` or `@` stays as it is: a mark in front of it, as OWASP advises for files that are opened in a
/// spreadsheet, would change what analyses read, numbers below zero among it. Open tables of untrusted text in a
/// spreadsheet as text.
#[derive(Debug)]
pub struct Table {
    name: String,
    columns: usize,
    rows: usize,
    /// The lines written last, and those before them.
    csv: csv::Writer<Vec<u8>>,
    lines: Spool,
}

/// How many bytes of lines are handed on together.
const TOGETHER: usize = 1 << 16;

impl Table {
    /// An empty table.
    pub fn new(name: &str, columns: &[&str]) -> Self {
        let csv = csv::Writer::from_writer(Vec::new());
        let (name, lines) = (name.to_owned(), Spool::default());
        let mut table = Table { name, columns: columns.len(), rows: 0, csv, lines };
        table.line(columns.iter().map(|&column| column.to_owned()).collect());
        table
    }

    /// Its name, which is that of its file without the ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row, a cell for each column. Cells too few are empty, cells too many are cut off.
    pub fn row<I, S>(&mut self, cells: I)
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(row.len(), self.columns, "a row of {}", self.name);
        row.resize(self.columns, String::new());
        self.rows += 1;
        self.line(row);
    }

    fn line(&mut self, cells: Vec<String>) {
        // Every row is as wide as the first, and memory takes everything: nothing can fail.
        let _ = self.csv.write_record(cells.iter().map(|cell| harmless(cell).into_owned()));
        let _ = self.csv.flush();
        if self.csv.get_ref().len() >= TOGETHER {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        let csv = std::mem::replace(&mut self.csv, csv::Writer::from_writer(Vec::new()));
        self.lines.add(&csv.into_inner().unwrap_or_default());
    }

    /// The table as CSV, its columns' names first.
    pub fn csv(mut self) -> Spool {
        self.hand_on();
        self.lines
    }
}

/// A cell without control characters but tabs and line breaks.
fn harmless(cell: &str) -> Cow<'_, str> {
    if !cell.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(cell);
    }
    let mut shown = String::with_capacity(cell.len());
    let mut chars = cell.chars().peekable();
    while let Some(c) = chars.next() {
        let breaks = c == '\r' && chars.peek() == Some(&'\n');
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() && !breaks => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}
