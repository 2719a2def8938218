//! Figures of any runs, as tables.

use std::fmt::Write;
use std::ops::Range;

use retold::decided::DeciderDifference;
use retold_figures::{FigureKind, FigurePicture, FigureTable};
use retold_plan::{FigureSearch, SearchLine};

use crate::again::spell_commands;

/// A line for each name under which runs have decisions of different parsers.
pub(crate) fn decider_notes(differences: &[DeciderDifference]) -> String {
    let note =
        |difference: &DeciderDifference| format!("note: {}\n", spell_commands(&difference.text()));
    differences.iter().map(note).collect()
}

/// Tables of figures, each with the differences between its groups. What comes from the log is inert in them.
pub(crate) fn tables(tables: &[FigureTable]) -> String {
    tables_with(tables, &[])
}

/// The same, each with what else there is to it, if that is known.
pub(crate) fn tables_with(tables: &[FigureTable], searches: &[FigureSearch]) -> String {
    let mut text = String::new();
    let searches = searches.iter().map(Some).chain(std::iter::repeat(None));
    for (table, search) in tables.iter().zip(searches) {
        let rows: Vec<Vec<String>> = std::iter::once(table.headings())
            .chain(table.groups.iter().map(|group| table.cells(group)))
            .collect();
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}", table.title());
        if let Some(banner) = table.banner() {
            let _ = writeln!(text, "  {banner}");
        }
        for line in table.picture().iter().flat_map(FigurePicture::lines) {
            let _ = writeln!(text, "  {line}");
        }
        write_rows(&rows, table.labels.len()..table.headings().len() - 1, "", &mut text);
        // The numbers behind a mean are in its picture.
        for counts in table.count_tables().iter().filter(|_| table.kind != FigureKind::Mean) {
            let _ = writeln!(text, "  {}", counts.title);
            let rows = [vec![counts.headings.clone()], counts.rows.clone()].concat();
            write_rows(&rows, 1..counts.headings.len(), "  ", &mut text);
        }
        for compared in &table.differences {
            let _ = writeln!(text, "  {}", table.difference(compared));
        }
        for note in table.notes() {
            let _ = writeln!(text, "  {note}");
        }
        for SearchLine { text: line, details } in search.iter().flat_map(|search| search.lines()) {
            let _ = writeln!(text, "  {line}");
            for detail in details {
                let _ = writeln!(text, "    {detail}");
            }
        }
        text.push('\n');
    }
    text
}

/// Rows whose columns are aligned, each after a few spaces: the columns of numbers on the right.
fn write_rows(rows: &[Vec<String>], numbers: Range<usize>, before: &str, text: &mut String) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            // Writing to a string cannot fail.
            let _ = match numbers.contains(&column) {
                true => write!(line, "  {cell:>width$}"),
                false => write!(line, "  {cell:<width$}"),
            };
        }
        let _ = writeln!(text, "{before}{}", line.trim_end());
    }
}
