//! The kinds of call and the models with the most calls, and all others summed up: a list for people has an end.

use std::collections::BTreeMap;

use super::Totals;
use super::part::Part;

impl Totals {
    /// Sums up the kinds of call, and the models, beyond the `most` with the most calls. How many there were stands in
    /// the name of the sum: `(91 others)`.
    pub fn sum_up(&mut self, most: usize) {
        let mut open_kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for question in self.open.values().filter(|question| question.order.tool.is_none()) {
            *open_kinds.entry(&question.kind).or_default() += 1;
        }
        let names = other_names(&self.kinds, &open_kinds, most);
        join(&mut self.kinds, &names);
        for question in self.open.values_mut() {
            if let Some(others) = names.get(&question.kind) {
                question.kind.clone_from(others);
            }
        }
        let names = other_names(&self.parts, &BTreeMap::new(), most);
        join(&mut self.parts, &names);
        for question in self.open.values_mut() {
            let model = &mut question.order.model;
            let others = model.as_ref().and_then(|model| names.get(model));
            *model = others.or(model.as_ref()).cloned();
        }
    }
}

/// The names that are not among the leading ones, each with the name of the sum.
fn other_names(
    parts: &BTreeMap<String, Part>,
    open: &BTreeMap<&str, u64>,
    most: usize,
) -> BTreeMap<String, String> {
    let mut calls: BTreeMap<&str, u64> = open.clone();
    for (name, part) in parts {
        *calls.entry(name).or_default() += part.answers();
    }
    if calls.len() <= most {
        return BTreeMap::new();
    }
    let mut calls: Vec<(&str, u64)> = calls.into_iter().collect();
    calls.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let others = calls.split_off(most.saturating_sub(1));
    let sum = format!("({} others)", others.len());
    others.into_iter().map(|(name, _)| (name.to_owned(), sum.clone())).collect()
}

fn join(parts: &mut BTreeMap<String, Part>, names: &BTreeMap<String, String>) {
    for (name, sum) in names {
        if let Some(part) = parts.remove(name) {
            let all = parts.entry(sum.clone()).or_default();
            all.merge(&part);
            all.parsers.merge(&part.parsers);
        }
    }
}
