//! Frozen answers: what each version decides about them, for a person to read.

use std::fmt::Write as _;

use crate::support::parsers as registry;
use retold::parse::ParserSpec;

use crate::support::cases::cases;

#[test]
fn decisions_on_frozen_answers() {
    let cases = cases("game24");
    assert!(cases.len() >= 30, "found {} cases", cases.len());
    for case in cases {
        let mut text = format!("{}\n{}\n", case.params, case.answer.trim_end_matches('\n'));
        for version in registry::versions("game24").unwrap() {
            let name = "game24".into();
            let spec = ParserSpec { name, params: case.params.clone(), version };
            let parser = registry::parser(&spec).unwrap();
            let (parsed, verdict) = parser.parse_any(&case.answer);
            writeln!(text, "\n{spec}").unwrap();
            writeln!(text, "  candidate: {}", parsed.value).unwrap();
            writeln!(text, "  method:    {}", parsed.method).unwrap();
            writeln!(text, "  verdict:   {}", verdict.unwrap_or("-")).unwrap();
            if let Some(reasoning) = parsed.reasoning {
                writeln!(text, "  reasoning: {reasoning:?}").unwrap();
            }
            for warning in parsed.warnings {
                writeln!(text, "  warning:   {warning}").unwrap();
            }
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true,
            snapshot_path => "../snapshots/game24" }, {
            insta::assert_snapshot!(case.name, text);
        });
    }
}
