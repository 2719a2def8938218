//! Just enough CSV (RFC 4180) to read the real logs, and our own tables.

use std::collections::BTreeMap;
use std::path::Path;

/// A row, by the column names of the first line.
pub(crate) type Row = BTreeMap<String, String>;

/// The rows of a file, by the column names of its first line.
pub(crate) fn rows(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path)
        .unwrap_or_else(|e| panic!("needs ../shared/data ({}): {e}", path.display()));
    rows_of(&text)
}

/// The rows of a text, by the column names of its first line.
pub(crate) fn rows_of(text: &str) -> Vec<Row> {
    let mut records = records(text).into_iter();
    let names = records.next().unwrap_or_default();
    records.map(|record| names.iter().cloned().zip(record).collect()).collect()
}

fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let record = records.last_mut().unwrap();
        let field = record.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => records.push(vec![String::new()]),
            c => field.push(c),
        }
    }
    records.retain(|record| record.len() > 1 || !record[0].is_empty());
    records
}
