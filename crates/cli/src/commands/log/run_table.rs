//! The list of runs as a table.

use std::time::Duration;

use super::runs::RunRow;
use crate::output::group_digits;
use crate::views::columns::{Column, align};
use retold::escaping::printable;
use retold::totals::dollars;

/// The text of a cell of which nothing is known.
const UNKNOWN: &str = "-";

/// The longest name that is shown whole.
const LONGEST_NAME: usize = 40;

/// The heading of the column that is left out if no run has a name.
const NAME: &str = "name";

/// A column, and its cell of a run.
type RunColumn = (Column, fn(&RunRow) -> String);

/// The columns, in their order.
const COLUMNS: [RunColumn; 10] = [
    (Column::text("run"), |row| row.run.to_string()),
    (Column::text(NAME), |row| {
        row.name.as_ref().map_or_else(unknown, |name| printable(name, LONGEST_NAME))
    }),
    (Column::text("started"), |row| row.started.to_string()),
    (Column::text("experiment"), |row| printable(&row.experiment, LONGEST_NAME)),
    (Column::text("outcome"), |row| row.outcome.clone()),
    (Column::text("model"), |row| printable(&row.model, LONGEST_NAME)),
    (Column::number("calls"), |row| row.spending.map_or_else(unknown, |of| group_digits(of.calls))),
    (Column::number("cost"), |row| {
        row.spending.and_then(|of| of.dollars).map_or_else(unknown, |of| dollars(Some(of)))
    }),
    (Column::number("took"), |row| row.took.map_or_else(unknown, clock)),
    (Column::number("events"), |row| group_digits(row.head.seq.0)),
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
    let columns = COLUMNS.iter().filter(|(column, _)| has_names || column.heading() != NAME);
    let columns: Vec<&RunColumn> = columns.collect();
    let shown: Vec<Column> = columns.iter().map(|(column, _)| *column).collect();
    align(&shown, rows.iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_hours_minutes_and_seconds() {
        let of = |seconds: u64| clock(Duration::from_millis(seconds * 1000 + 999));
        assert_eq!([of(0), of(61), of(3_600 * 30 + 5)], ["0:00:00", "0:01:01", "30:00:05"]);
    }
}
