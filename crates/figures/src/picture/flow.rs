//! From which value to which participants went: a flow for each group.

use std::collections::BTreeSet;

use retold::counted::{count_of, group_digits};
use retold::escaping::printable;

use super::LONGEST;
use crate::{FigureGroup, FigureTable};

/// The most groups whose flows are drawn; the tables have all.
const MOST: usize = 6;

/// The most columns of a bar in a terminal, and of a value.
const BAR: u64 = 24;
const COLUMNS: usize = 22;

/// How the members of a group went from their first value to their last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureFlow {
    /// The name of the group.
    pub name: String,
    /// The values, in the order of the table.
    pub values: Vec<String>,
    /// How many went from which value to which; those that stayed, too.
    pub links: Vec<PictureLink>,
}

/// Those who went from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureLink {
    /// The place of the first value.
    pub first: usize,
    /// The place of the last value.
    pub last: usize,
    /// How many.
    pub count: u64,
}

impl FigureTable {
    /// The flows of its groups; none of a figure that is not about changes.
    pub(super) fn flows(&self) -> Vec<PictureFlow> {
        let changing = self.groups.iter().filter(|group| !group.changes.is_empty());
        changing.take(MOST).map(|group| self.flow(group)).collect()
    }

    fn flow(&self, group: &FigureGroup) -> PictureFlow {
        let values = group.changes.iter().flat_map(|change| [&change.first, &change.last]);
        let values: Vec<&String> = values.collect::<BTreeSet<_>>().into_iter().collect();
        let place = |value: &String| values.iter().position(|it| *it == value).unwrap_or(0);
        let links = group.changes.iter().map(|change| PictureLink {
            first: place(&change.first),
            last: place(&change.last),
            count: change.count,
        });
        PictureFlow {
            name: self.title_of(&group.group),
            links: links.collect(),
            values: values.iter().map(|value| printable(value, LONGEST)).collect(),
        }
    }
}

impl PictureFlow {
    /// How many stayed, and how many went elsewhere: `acp: 3 stayed, 4 changed`.
    pub fn text(&self) -> String {
        let sum = |stays: bool| -> u64 {
            let links = self.links.iter().filter(|link| (link.first == link.last) == stays);
            links.map(|link| link.count).sum()
        };
        format!(
            "{}: {} stayed, {} changed",
            self.name,
            group_digits(sum(true)),
            group_digits(sum(false))
        )
    }

    /// Where a link leads from and to.
    pub fn ends(&self, link: &PictureLink) -> [&str; 2] {
        [link.first, link.last].map(|at| self.values.get(at).map_or("", String::as_str))
    }

    /// A line for each link in a terminal, the most frequent change first, and last those that stayed.
    pub(super) fn lines(&self) -> Vec<String> {
        let most = self.links.iter().map(|link| link.count).max().unwrap_or(1).max(1);
        let mut links: Vec<&PictureLink> = self.links.iter().filter(|it| it.count > 0).collect();
        links.sort_by_key(|link| (link.first == link.last, std::cmp::Reverse(link.count)));
        let widest = links.iter().flat_map(|link| self.ends(link));
        let width = widest.map(|value| value.chars().count()).max().unwrap_or(0).min(COLUMNS);
        let line = |link: &PictureLink| {
            let [from, to] = self.ends(link).map(|value| super::terminal::fitting(value, width));
            let bar = usize::try_from((link.count * BAR).div_ceil(most)).unwrap_or(0);
            let arrow = if link.first == link.last { '=' } else { '→' };
            let bar = "█".repeat(bar);
            format!("  {from:>width$} {arrow} {to:<width$} {bar} {}", group_digits(link.count))
        };
        let title = format!(
            "{} ({})",
            self.text(),
            count_of(self.links.iter().map(|it| it.count).sum(), "participant")
        );
        std::iter::once(title).chain(links.into_iter().map(line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_says_who_went_where() {
        let link = |first, last, count| PictureLink { first, last, count };
        let flow = PictureFlow {
            name: "acp".to_owned(),
            values: ["park", "schools", "a very long name of a value"].map(str::to_owned).into(),
            links: vec![link(0, 0, 12), link(0, 1, 1), link(1, 2, 3)],
        };
        insta::assert_snapshot!(flow.lines().join("\n"));
        assert!(flow.lines().iter().all(|line| line.chars().count() <= 78));
    }
}
