//! The order of rows.

use std::cmp::Ordering;

use retold_figures::natural_order;

use super::cells::ColumnValue;
use super::columns::TableColumn;
use super::rows::RowMembers;
use super::{TableOptions, TableSource};

/// The places of the rows that are shown, in their order.
pub(super) fn order(
    source: &TableSource<'_>,
    members: &RowMembers,
    columns: &[TableColumn],
    options: &TableOptions,
) -> Vec<usize> {
    let end = options.from.saturating_add(options.most).min(members.len());
    let begin = options.from.min(end);
    let sort = options.sort.as_deref().unwrap_or("");
    let key = sort.strip_prefix('-').unwrap_or(sort);
    let Some(column) = columns.iter().find(|column| column.key == key) else {
        return (begin..end).collect();
    };
    let is_down = sort.starts_with('-');
    let mut rows: Vec<(ColumnValue<'_>, usize)> =
        (0..members.len()).map(|at| (column.value(source, members.row(at)), at)).collect();
    let compare = |(one, first): &(ColumnValue<'_>, usize), (other, second): &_| {
        let by_value = one.compare(other);
        let by_value = if is_down && !one.is_missing() && !other.is_missing() {
            by_value.reverse()
        } else {
            by_value
        };
        by_value.then(first.cmp(second))
    };
    // Only the rows that are shown have to be in order.
    if end < rows.len() {
        rows.select_nth_unstable_by(end, compare);
        rows.truncate(end);
    }
    rows.sort_unstable_by(compare);
    rows.into_iter().skip(begin).map(|(_, at)| at).collect()
}

impl ColumnValue<'_> {
    fn is_missing(&self) -> bool {
        *self == ColumnValue::Missing
    }

    /// Numbers come before texts, and missing values last.
    fn compare(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            ColumnValue::Number(_) => 0,
            ColumnValue::Text(_) => 1,
            ColumnValue::Missing => 2,
        };
        match (self, other) {
            (ColumnValue::Number(one), ColumnValue::Number(other)) => one.total_cmp(other),
            (ColumnValue::Text(one), ColumnValue::Text(other)) if one == other => Ordering::Equal,
            (ColumnValue::Text(one), ColumnValue::Text(other)) => natural_order(one, other),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}
