//! The list of runs as a table.

use std::time::Duration;

use super::runs::RunRow;
use crate::output::grouped;
use retold::escaping::printable;
use retold::totals::dollars;

/// What a cell says of which nothing is known.
const UNKNOWN: &str = "-";

/// The longest name that is shown whole.
const LONGEST_NAME: usize = 40;

/// A column: its heading, whether it has numbers, and its cell of a run.
type Column = (&'static str, bool, fn(&RunRow) -> String);

/// The columns, in their order.
const COLUMNS: [Column; 10] = [
    ("run", false, |row| row.run.to_string()),
    ("name", false, |row| {
        row.name.as_ref().map_or_else(unknown, |name| printable(name, LONGEST_NAME))
    }),
    ("started", false, |row| row.started.to_string()),
    ("experiment", false, |row| printable(&row.experiment, LONGEST_NAME)),
    ("outcome", false, |row| row.outcome.clone()),
    ("model", false, |row| printable(&row.model, LONGEST_NAME)),
    ("calls", true, |row| row.spending.map_or_else(unknown, |of| grouped(of.calls))),
    ("cost", true, |row| {
        row.spending.and_then(|of| of.dollars).map_or_else(unknown, |of| dollars(Some(of)))
    }),
    ("took", true, |row| row.took.map_or_else(unknown, clock)),
    ("events", true, |row| grouped(row.head.seq.0)),
];

fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// A duration in hours, minutes and seconds.
fn clock(took: Duration) -> String {
    let seconds = took.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The runs, a line each below a heading; empty if there are none. Without names, there is no column for them.
pub(super) fn table(rows: &[RunRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let has_names = rows.iter().any(|row| row.name.is_some());
    let columns = COLUMNS.into_iter().filter(|(heading, ..)| has_names || *heading != "name");
    let columns = columns.map(|(heading, is_number, cell)| {
        let cells: Vec<String> =
            std::iter::once(heading.to_owned()).chain(rows.iter().map(cell)).collect();
        let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        (cells, is_number, width)
    });
    let columns: Vec<(Vec<String>, bool, usize)> = columns.collect();
    let mut text = String::new();
    for line in 0..=rows.len() {
        let cells = columns.iter().filter_map(|(cells, is_number, width)| {
            let cell = cells.get(line)?;
            Some(match is_number {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            })
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
    fn a_duration_has_hours_minutes_and_seconds() {
        let of = |seconds| clock(Duration::from_millis(seconds * 1000 + 999));
        assert_eq!([of(0), of(61), of(3_600 * 30 + 5)], ["0:00:00", "0:01:01", "30:00:05"]);
    }
}
