//! Differences of prompts, grouped by the lines that differ.

use crate::output::{count_of, group_digits};

/// How many of the calls that differ in the same way are named; `--json` names all.
pub(crate) const NAMED: usize = 20;

/// Groups calls in which the same lines of the prompt differ, in the order of their first members.
/// `diff` is the unified diff of a call.
pub(crate) fn alike<T>(calls: &[T], diff: impl Fn(&T) -> String) -> Vec<Vec<&T>> {
    let mut groups: Vec<(String, Vec<&T>)> = Vec::new();
    for call in calls {
        let diff = diff(call);
        let differing = |line: &&str| line.starts_with(['+', '-']);
        let key: Vec<&str> = diff.lines().filter(differing).collect();
        let key = key.join("\n");
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(call),
            None => groups.push((key, vec![call])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The other calls of a group, as a line.
pub(crate) fn and_others(others: &[String]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let more = match others.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more (--json names all)", group_digits(more as u64)),
    };
    let named = others.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!("and the same change in: {named}{more}\n")
}

/// How many lines of a diff are shown as text.
const LINES: usize = 40;

/// The first lines of a diff.
pub(crate) fn shorten(diff: &str) -> String {
    let lines = diff.lines().count();
    if lines <= LINES {
        return diff.to_owned();
    }
    let shown: String = diff.lines().take(LINES).map(|line| format!("{line}\n")).collect();
    format!("{shown}.. and {} more: --json\n", count_of((lines - LINES) as u64, "line"))
}
