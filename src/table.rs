//! A table for other programs.

use std::borrow::Cow;

/// Named columns and rows of text; written as CSV (RFC 4180, UTF-8, `\n` between lines).
///
/// Cells hold what models and files say. Control characters, which a terminal would obey, are written as
/// escapes (`\u{1b}`), but for tabs and line breaks; the log has the text as it was. A cell that begins with
/// `=`, `+`, `-` or `@` stays as it is: a mark in front of it, as OWASP advises for files that are opened in a
/// spreadsheet, would change what analyses read, numbers below zero among it. Open tables of untrusted text in a
/// spreadsheet as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    name: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(name: &str, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Table { name: name.to_owned(), columns, rows: Vec::new() }
    }

    /// Its name, which is that of its file without the ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row, a cell for each column. Cells too few are empty, cells too many are cut off.
    pub fn row<I, S>(&mut self, cells: I)
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(row.len(), self.columns.len(), "a row of {}", self.name);
        row.resize(self.columns.len(), String::new());
        self.rows.push(row);
    }

    /// The table as CSV, its columns' names first.
    pub fn csv(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut csv = csv::Writer::from_writer(&mut bytes);
        for line in std::iter::once(&self.columns).chain(&self.rows) {
            // Every row is as wide as the first, and memory takes everything: nothing can fail.
            let _ = csv.write_record(line.iter().map(|cell| harmless(cell).into_owned()));
        }
        drop(csv);
        bytes
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
