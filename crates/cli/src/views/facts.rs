//! The facts in which two runs, or a run and its re-execution, differ.

use std::fmt::Write;

use crate::output::{counted, grouped};
use retold::compare::{FactChange, FactChanges};
use retold::id::CallPath;
use retold::inert::inert;
use serde_json::Value;

/// The longest excerpt of an answer, a decision, a setting or a fact, in characters.
pub(crate) const EXCERPT: usize = 160;

pub(crate) fn more(all: usize, most: usize, text: &mut String) {
    if all > most {
        let _ = writeln!(text, "  and {} more: --most N or --json", grouped((all - most) as u64));
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
        counted(*one, "fact"),
        grouped(*other),
        grouped(*same)
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
            let (phase, kind) = (inert(phase, 60), inert(kind, 60));
            let _ = writeln!(text, "  {phase:<28}{kind:<24}{changed:>9}{one:>15}{other:>16}");
        }
    }
    for FactChange { call, one, other, .. } in changes.iter().take(most) {
        let fact = |fact: &Option<Value>| match fact {
            Some(fact) => inert(&fact.to_string(), EXCERPT),
            None => "(none)".to_owned(),
        };
        let call = call.as_ref().map_or("(no call)", CallPath::as_str);
        let _ = writeln!(text, "  {call}\n    -{}\n    +{}", fact(one), fact(other));
    }
    more(changes.len(), most, text);
}
