//! How many values the groups of a figure have, without the values: of a run that goes on.

use std::collections::BTreeMap;

use retold::counted::group_digits;
use retold::escaping::printable;

use super::{FigureGroup, FigureTable, GroupValue};
use crate::FigureDefinition;

/// The most groups of a line.
const MOST: usize = 8;

/// The longest name of a label.
const LONGEST: usize = 60;

impl FigureTable {
    /// How many values each group has, and how many are left out: `by condition: control n 40, 2 missing; treated n 38`. `None`
    /// if nothing is known of a group yet. It says nothing about the values themselves.
    pub fn counts_so_far(&self) -> Option<String> {
        let by =
            self.figure.parse::<FigureDefinition>().map(|figure| figure.by).unwrap_or_default();
        // The figure of each value has the name of the value before its labels.
        let named = self.labels.len().saturating_sub(by.len());
        let mut counts: BTreeMap<&[GroupValue], String> = BTreeMap::new();
        for group in &self.groups {
            let labels = group.group.get(named..).unwrap_or_default();
            counts.entry(labels).or_insert_with(|| group.counts());
        }
        let rest = counts.len().saturating_sub(MOST);
        let of = |(labels, counts): (&&[GroupValue], &String)| match labels.is_empty() {
            true => counts.clone(),
            false => format!("{} {counts}", self.title_of(labels)),
        };
        let mut parts: Vec<String> = counts.iter().take(MOST).map(of).collect();
        if parts.is_empty() {
            return None;
        }
        if rest > 0 {
            parts.push(format!("{rest} more"));
        }
        let by: Vec<String> = by.iter().map(|label| printable(label, LONGEST)).collect();
        let before = if by.is_empty() { String::new() } else { format!("by {}: ", by.join(", ")) };
        Some(format!("{before}{}", parts.join("; ")))
    }
}

impl FigureGroup {
    /// How many values it has, and how many are left out: `n 40, 2 missing`.
    pub(crate) fn counts(&self) -> String {
        let left_out = [(self.missing, "missing"), (self.fallback, "fallback")];
        let left_out = left_out.into_iter().filter(|(count, _)| *count > 0);
        let left_out = left_out.map(|(count, what)| format!(", {} {what}", group_digits(count)));
        format!("n {}{}", group_digits(self.draws), left_out.collect::<String>())
    }
}
