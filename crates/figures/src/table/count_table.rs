//! Tables of the counts that the pictures of a figure show.

use std::collections::BTreeSet;

use retold::counted::group_digits;
use retold::escaping::printable;

use super::FigureTable;

/// The longest value that is a heading, in characters.
const LONGEST: usize = 40;

/// Counts as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountTable {
    /// The subject of the counts: `values`, `acp: from the first value to the last`.
    pub title: String,
    /// The headings of the columns.
    pub headings: Vec<String>,
    /// The rows, which begin with their names.
    pub rows: Vec<Vec<String>>,
}

impl FigureTable {
    /// How often each number is among the values of each group, and how many changed from which value to which.
    pub fn count_tables(&self) -> Vec<CountTable> {
        let distribution = self.distribution().and_then(|all| {
            let first = all.rows.first()?;
            let names = first.bars.iter().map(|bar| bar.name.clone());
            let rows = all.rows.iter().map(|row| {
                let counts = row.bars.iter().map(|bar| group_digits(bar.count));
                std::iter::once(row.name.clone()).chain(counts).chain([row.text.clone()]).collect()
            });
            let (group, spread) = ("value".to_owned(), "spread".to_owned());
            Some(CountTable {
                title: "values".to_owned(),
                headings: std::iter::once(group).chain(names).chain([spread]).collect(),
                rows: rows.collect(),
            })
        });
        distribution.into_iter().chain(self.change_tables()).collect()
    }

    /// For each group, the first values by the last ones.
    fn change_tables(&self) -> Vec<CountTable> {
        let changing = self.groups.iter().filter(|group| !group.changes.is_empty());
        let table = |group: &super::FigureGroup| {
            let values = group.changes.iter().flat_map(|it| [&it.first, &it.last]);
            let values: BTreeSet<&String> = values.collect();
            let count = |first: &String, last: &String| {
                let found = group.changes.iter().find(|it| it.first == *first && it.last == *last);
                group_digits(found.map_or(0, |it| it.count))
            };
            let row = |first: &&String| {
                let counts = values.iter().map(|last| count(first, last));
                std::iter::once(printable(first, LONGEST)).chain(counts).collect()
            };
            let lasts = values.iter().map(|last| printable(last, LONGEST));
            CountTable {
                title: format!("{}: from the first value to the last", self.title_of(&group.group)),
                headings: std::iter::once("first".to_owned()).chain(lasts).collect(),
                rows: values.iter().map(row).collect(),
            }
        };
        changing.map(table).collect()
    }
}
