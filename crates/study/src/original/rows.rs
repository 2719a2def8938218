//! Tables of original runs (CSV); every error has the line.

use super::OriginalError;
use retold::escaping::printable;

/// A table of an original run, or one of ours to compare with it.
#[derive(Debug, Clone)]
pub struct Rows {
    path: String,
    columns: Vec<String>,
    rows: Vec<(u64, Vec<String>)>,
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct OriginalRow<'a> {
    table: &'a Rows,
    line: u64,
    cells: &'a [String],
}

impl Rows {
    /// Parses a table with at least these columns.
    ///
    /// # Errors
    /// [`OriginalError`] for a missing column or a row of a different length, with the line.
    pub fn parse(text: &str, path: &str, needed: &[&str]) -> Result<Rows, OriginalError> {
        let wrong = |line, reason| OriginalError::Line { path: path.to_owned(), line, reason };
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let columns: Vec<String> = match reader.headers() {
            Ok(names) => names.iter().map(str::to_owned).collect(),
            Err(e) => return Err(wrong(1, e.to_string())),
        };
        if columns.is_empty() {
            let names = needed.join(", ");
            return Err(wrong(
                1,
                format!("there is no table: the first line names the columns {names}"),
            ));
        }
        if let Some(missing) = needed.iter().find(|name| !columns.iter().any(|c| c == *name)) {
            let there = printable(&columns.join(", "), 200);
            return Err(wrong(1, format!("the column {missing:?} is missing; there are: {there}")));
        }
        let mut rows = Vec::new();
        let (mut read, mut line) = (0, 1);
        for record in reader.records() {
            let record = record.map_err(|e| wrong(1, e.to_string()))?;
            // A record begins after the preceding line break, part of which the reader has not
            // consumed.
            let begin = record.position().map_or(read, |place| place.byte() as usize);
            let breaks = text.as_bytes().iter().skip(begin).take_while(|b| b.is_ascii_control());
            let begin = (begin + breaks.count()).min(text.len());
            let passed = text.as_bytes().get(read..begin).unwrap_or(&[]);
            line += passed.iter().filter(|byte| **byte == b'\n').count() as u64;
            read = begin;
            if record.len() != columns.len() {
                let reason = format!(
                    "{} cells where the first line has {} columns",
                    record.len(),
                    columns.len()
                );
                return Err(wrong(line, reason));
            }
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
        Ok(Rows { path: path.to_owned(), columns, rows })
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = OriginalRow<'_>> {
        self.rows.iter().map(|(line, cells)| OriginalRow { table: self, line: *line, cells })
    }

    /// The file, as given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl<'a> OriginalRow<'a> {
    /// The line that it begins in, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The cell in a column; empty if there is no such column.
    pub fn text(&self, column: &str) -> &'a str {
        let at = self.table.columns.iter().position(|name| name == column);
        at.and_then(|at| self.cells.get(at)).map_or("", String::as_str)
    }

    /// The cell as a number.
    ///
    /// # Errors
    /// [`OriginalError`] with the line, if it is not a number or is out of range.
    pub fn number<N: std::str::FromStr>(&self, column: &str) -> Result<N, OriginalError> {
        let text = self.text(column);
        let wrong = |what: &str| self.wrong(format!("{column}: {:?} {what}", printable(text, 40)));
        let number = text.parse().map_err(|_| wrong("is not a number"))?;
        // A number that is too large is read as infinite, and so is `inf`; `nan` is undefined.
        if !text.parse::<f64>().is_ok_and(|read| !read.is_finite()) {
            return Ok(number);
        }
        let has_digits = text.contains(|c: char| c.is_ascii_digit());
        Err(wrong(if has_digits { "is out of range" } else { "is not a number" }))
    }

    /// `agent_3` as 3.
    ///
    /// # Errors
    /// [`OriginalError`] with the line, if there is no such player.
    pub fn agent(&self, column: &str, players: u32) -> Result<u32, OriginalError> {
        let text = self.text(column);
        let number = text.strip_prefix("agent_").and_then(|n| n.parse().ok());
        number.filter(|n| *n < players).ok_or_else(|| {
            let last = players.saturating_sub(1);
            let text = printable(text, 40);
            self.wrong(format!("{column}: {text:?} is not one of agent_0 to agent_{last}"))
        })
    }

    /// An error in this row.
    pub fn wrong(&self, reason: String) -> OriginalError {
        OriginalError::Line { path: self.table.path.clone(), line: self.line, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for text in ["a,b\n1,2\n3\n", "a,b\r\n1,2\r\n3\r\n", "a,b\r\n\"1\r\n1\",2\r\n3\r\n"] {
            let line = 3 + u64::from(text.contains('"'));
            let wrong = Rows::parse(text, "game_log.csv", &["a"]).map(drop).unwrap_err();
            assert!(
                wrong.to_string().starts_with(&format!("game_log.csv, line {line}: ")),
                "{wrong}"
            );
        }
        let rows = Rows::parse("a,b\r\n1,2\r\n3,4", "game_log.csv", &["a"]).unwrap();
        assert_eq!(rows.rows.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3]);
    }
}
