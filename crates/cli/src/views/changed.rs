//! Prints decisions that another parser changes.

use std::fmt::Write;

use crate::output::group_digits;
use retold::check::{Change, DecisionPart, DecisionSide};
use retold::escaping::printable;

/// Lists the first few changes.
pub(crate) fn list(out: &mut String, heading: &str, changes: &[Change], most: usize) {
    if !changes.is_empty() && most > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(out, "\n{heading}");
    }
    for Change { seq, call, sample, choice, parts, from, to } in changes.iter().take(most) {
        let _ = write!(out, "  seq {seq} {call}#{sample}{}:", choice.suffix());
        if parts.contains(&DecisionPart::Value) || parts.contains(&DecisionPart::Method) {
            let _ = write!(out, " {} -> {}", side(from), side(to));
        }
        if parts.contains(&DecisionPart::Reasoning) {
            let text = |side: &DecisionSide| match &side.reasoning {
                Some(text) => format!("\"{}\"", printable(text, 60)),
                None => "none".to_owned(),
            };
            let _ = write!(out, " reasoning {} -> {}", text(from), text(to));
        }
        if parts.contains(&DecisionPart::Warnings) {
            let texts = |side: &DecisionSide| {
                if side.warnings.is_empty() {
                    "none".to_owned()
                } else {
                    printable(&side.warnings.join("; "), 120)
                }
            };
            let _ = write!(out, " warnings {} -> {}", texts(from), texts(to));
        }
        out.push('\n');
    }
    if most > 0 && changes.len() > most {
        let more = group_digits((changes.len() - most) as u64);
        let _ = writeln!(out, "  and {more} more; --most N or --json lists them");
    }
}

pub(crate) fn side(side: &DecisionSide) -> String {
    let DecisionSide { method, value, verdict, .. } = side;
    let verdict = verdict.map_or_else(String::new, |v| format!(", {v}"));
    format!("{} ({method}{verdict})", printable(&value.to_string(), 60))
}
