//! The decision, and the parser that made it.

use std::fmt::Write;

use serde_json::Value;

use super::answer::choices;
use super::indent;
use crate::output::count_of;
use retold::audit::{Audit, Link};
use retold::decide::PARSER_FILE;
use retold::escaping::printable;
use retold::event::DecisionMade;

/// The decision that is audited.
pub(super) fn decision_text(audit: &Audit, Link { seq, event, .. }: &Link<DecisionMade>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "\ndecision  seq {seq}");
    if event.by.is_reported() {
        let _ = writeln!(out, "  name     {}", printable(event.by.decides(), 200));
    }
    let _ = writeln!(out, "  value    {}", event.details.value);
    if let Some(choice) = choice_said(audit, event) {
        let _ = writeln!(out, "  choice   {choice}");
    }
    let _ = writeln!(out, "  method   {}", event.by.method);
    if let Some(verdict) = audit.verdict {
        let _ = writeln!(out, "  verdict  {verdict}");
    }
    parser(&mut out, &event.by.parser);
    for warning in &event.details.warnings {
        let _ = writeln!(out, "  warning  {warning}");
    }
    if let Some(reasoning) = &event.details.reasoning {
        let _ = writeln!(out, "  reasoning\n{}", indent(reasoning));
    }
    out
}

/// Another decision on the same answer, in a line.
pub(super) fn other_decision(Link { seq, hash: _, event }: &Link<DecisionMade>) -> String {
    let (name, value) = (printable(event.by.decides(), 200), event.details.value.to_string());
    let choice = event.details.choice.map(|at| format!("  choice {at}")).unwrap_or_default();
    format!("  seq {seq}  {name}{choice}  {}\n", printable(&value, 90))
}

/// Which choice of the answer a decision is about, if the answer has several or the decision says so.
fn choice_said(audit: &Audit, made: &DecisionMade) -> Option<String> {
    let has = count_of(choices(audit).into(), "choice");
    match made.details.choice {
        Some(at) => Some(format!("{at}, counted from 0: the answer has {has}")),
        None if choices(audit) == 1 => None,
        None if made.by.is_reported() => {
            Some(format!("not said by the program: the answer has {has}"))
        }
        None => Some(format!("0, the first: the answer has {has}")),
    }
}

/// The parser of a decision. One of a parser file has the file's name and hash.
fn parser(out: &mut String, parser: &Value) {
    let from = &parser["params"][PARSER_FILE];
    let text = |value: &Value| printable(value.as_str().unwrap_or("?"), 200);
    // Writing to a string cannot fail.
    if from.is_null() {
        let params = parser["params"].as_object().filter(|params| !params.is_empty());
        let params = params.map_or_else(String::new, |_| format!(" {}", parser["params"]));
        let _ = writeln!(out, "  parser   {}@{}{params}", text(&parser["name"]), parser["version"]);
        return;
    }
    let _ = writeln!(out, "  parser   {}@{}", text(&parser["name"]), parser["version"]);
    let _ = writeln!(out, "  file     {}, BLAKE3 {}", text(&from["file"]), text(&from["blake3"]));
    let _ = writeln!(out, "  defined  {}", from["parser"]);
}
