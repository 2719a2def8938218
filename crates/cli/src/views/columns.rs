//! Rows of cells as lines of text, aligned in columns.

/// A column of a table that is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    heading: &'static str,
    /// Numbers end below each other.
    is_number: bool,
}

impl Column {
    pub(crate) const fn text(heading: &'static str) -> Self {
        Column { heading, is_number: false }
    }

    pub(crate) fn heading(&self) -> &'static str {
        self.heading
    }

    pub(crate) const fn number(heading: &'static str) -> Self {
        Column { heading, is_number: true }
    }
}

/// The rows, a line each below the headings.
pub(crate) fn align(columns: &[Column], rows: impl Iterator<Item = Vec<String>>) -> String {
    let headings = columns.iter().map(|column| column.heading.to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
    let width = |at: usize| {
        let cells = lines.iter().filter_map(|line| line.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells =
            line.iter().zip(columns).zip(&widths).map(|((cell, column), width)| {
                match column.is_number {
                    true => format!("{cell:>width$}"),
                    false => format!("{cell:<width$}"),
                }
            });
        let cells: Vec<String> = cells.collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_below_each_other() {
        let columns = [Column::text("name"), Column::number("calls"), Column::text("what")];
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["a", "1,000", "x"]), row(["long name", "2", "-"])];
        let text = align(&columns, rows.into_iter());
        assert_eq!(
            text,
            "name       calls  what\n\
             a          1,000  x\n\
             long name      2  -\n"
        );
    }
}
