//! Frozen answers for every parser except the Game of 24's: what each version decides about them,
//! for a person to read. One file per case in `fixtures/responses`, one snapshot per case.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::support::parsers as registry;
use retold::parse::ParserSpec;
use serde_json::Value;

use crate::support::cases::{Case, cases};

#[test]
fn decisions_on_frozen_answers() {
    let names: BTreeSet<&str> = registry::all().map(|(name, _)| name).collect();
    let mut count = 0;
    for name in names {
        let cases = cases(name);
        count += cases.len();
        // The Game of 24 has its own snapshots, with its verdicts.
        for case in cases.into_iter().filter(|_| name != "game24") {
            let text = described(name, &case);
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true,
                snapshot_path => format!("snapshots/{name}") }, {
                insta::assert_snapshot!(case.name, text);
            });
        }
    }
    assert!(count >= 150, "found {count} cases");
}

/// The case and every version's decision.
fn described(name: &str, case: &Case) -> String {
    let mut text = format!("{}\n{}\n", case.params, case.answer.trim_end_matches('\n'));
    for version in registry::versions(name).unwrap() {
        let spec =
            ParserSpec { name: name.to_owned().into(), params: case.params.clone(), version };
        let parsed = registry::parser(&spec).unwrap().parse_any(&case.answer).0;
        writeln!(text, "\n{spec}").unwrap();
        writeln!(text, "  value:     {}", shown(&parsed.value)).unwrap();
        writeln!(text, "  method:    {}", parsed.method).unwrap();
        if let Some(reasoning) = parsed.reasoning {
            writeln!(text, "  reasoning: {reasoning:?}").unwrap();
        }
        for warning in parsed.warnings {
            writeln!(text, "  warning:   {warning}").unwrap();
        }
    }
    text
}

/// Small values on one line, large ones on several.
fn shown(value: &Value) -> String {
    let short = value.to_string();
    if short.len() < 160 { short } else { serde_json::to_string_pretty(value).unwrap() }
}
