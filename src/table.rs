//! A table for other programs.

/// Named columns and rows of text; written as CSV (RFC 4180, UTF-8, `\n` between lines).
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
            let _ = csv.write_record(line);
        }
        drop(csv);
        bytes
    }
}
