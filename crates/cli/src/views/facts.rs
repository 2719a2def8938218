//! The facts in which two runs, or a run and its re-execution, differ.

use std::fmt::Write;

use crate::output::{count_of, group_digits};
use crate::views::differing::where_they_differ;
use retold::compare::{FactChange, FactChanges};
use retold::escaping::printable;
use serde_json::Value;

/// The longest excerpt of an answer, a decision, a setting or a fact, in characters.
pub(crate) const EXCERPT: usize = 160;

pub(crate) fn more(all: usize, most: usize, text: &mut String) {
    if all > most {
        let _ =
            writeln!(text, "  and {} more: --most N or --json", group_digits((all - most) as u64));
    }
}

/// The facts that differ: counts by phase and kind, and the first few.
pub(crate) fn facts_text(
    facts: &FactChanges,
    [first, second]: [&str; 2],
    most: usize,
    text: &mut String,
) {
    let FactChanges { one, other, same, by_phase, changes } = facts;
    let _ = writeln!(
        text,
        "\n{} {first}, {} {second}, {} the same",
        count_of(*one, "fact"),
        group_digits(*other),
        group_digits(*same)
    );
    if changes.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "  {:<28}{:<24}{:>9}{:>15}{:>16}",
        "phase", "fact", "changed", "only before", "only after"
    );
    for (phase, kinds) in by_phase {
        for (kind, [changed, one, other]) in kinds {
            let (phase, kind) = (printable(phase, 60), printable(kind, 60));
            let _ = writeln!(text, "  {phase:<28}{kind:<24}{changed:>9}{one:>15}{other:>16}");
        }
    }
    for FactChange { call, seq, one, other, kind, .. } in changes.iter().take(most) {
        let fact = |fact: &Option<Value>| match fact {
            Some(fact) => fact.to_string(),
            None => "(none)".to_owned(),
        };
        // A fact that no call caused is recognised by its kind and its place.
        let kind = printable(kind, 60);
        let place = match (call, seq) {
            (Some(call), _) => call.to_string(),
            (None, Some(seq)) => format!("{kind}, seq {seq}"),
            (None, None) => kind,
        };
        let [one, other] = where_they_differ(&fact(one), &fact(other), EXCERPT);
        let _ = writeln!(text, "  {place}\n    -{one}\n    +{other}");
    }
    more(changes.len(), most, text);
}
