//! Which decisions are in force, in words.

use std::fmt::Write;

use crate::output::{counted, grouped};
use retold::in_force::{InForce, Replaced};

/// Lines for people; empty if there is nothing to say.
pub(crate) fn text(in_force: &InForce) -> String {
    let mut text = String::new();
    let compared = |replaced: &Replaced| match (replaced.decisions, replaced.flips) {
        (Some(decisions), Some(flips)) => {
            format!(": {}, {} with another value", counted(decisions, "decision"), grouped(flips))
        }
        _ => String::new(),
    };
    // Writing to a string cannot fail, here and below.
    for replaced in &in_force.accepted {
        let run = replaced.run;
        let _ = writeln!(
            text,
            "decisions accepted about these answers are in run {run}{}",
            compared(replaced)
        );
    }
    if let [_, .., last] = in_force.accepted.as_slice() {
        let run = last.run;
        let _ = writeln!(text, "where several decide about an answer, the last is in force: {run}");
    }
    if !in_force.accepted.is_empty() {
        text.push_str("the decisions of this run itself are as they were recorded\n");
    }
    if let Some(of) = &in_force.decides_about {
        let elsewhere = if in_force.is_elsewhere { ", which is not in this log" } else { "" };
        let _ = writeln!(
            text,
            "accepted decisions about the answers of run {}{elsewhere}; they replace the ones recorded there{}",
            of.run,
            compared(of)
        );
    }
    text
}
