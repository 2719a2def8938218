//! A table for other programs.

use std::borrow::Cow;

use retold::run::{OutputFile, Spool};

/// Named columns and rows of text, written as CSV (RFC 4180, UTF-8, `\n` between lines). Only the
/// last part of a long table is in memory.
///
/// Cells hold what models and files say. Control characters other than tabs and line breaks, which
/// could control a terminal, are written as escapes (`\u{1b}`); the log has the original text. A
/// cell that begins with `=`, `+`, `-` or `@` stays as it is. OWASP recommends a prefix for such
/// cells in files that are opened in a spreadsheet, but that would change what analyses read, such
/// as negative numbers. In a spreadsheet, import tables of untrusted content as text.
#[derive(Debug)]
pub struct Table {
    name: String,
    columns: usize,
    rows: usize,
    /// The most recent lines, and those before them.
    csv: csv::Writer<Vec<u8>>,
    lines: Spool,
}

/// How many bytes of lines are passed on together.
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

    /// Its name, which is also the file name without the extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row with one cell per column. Missing cells are empty and surplus cells are cut off.
    pub fn row<I, S>(&mut self, cells: I)
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.columns, String::new());
        self.rows += 1;
        self.line(row);
    }

    fn line(&mut self, cells: Vec<String>) {
        // Every row is as wide as the first, and writing to memory cannot fail.
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

    /// The table as CSV, starting with the column names.
    pub fn csv(mut self) -> Spool {
        self.hand_on();
        self.lines
    }
}

impl From<Table> for OutputFile {
    /// The table as `NAME.csv`.
    fn from(table: Table) -> Self {
        OutputFile { name: format!("{}.csv", table.name()), content: table.csv() }
    }
}

/// A cell without control characters other than tabs and line breaks.
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
