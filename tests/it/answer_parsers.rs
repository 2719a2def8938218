//! The parsers of votes, demographics and plain answers on frozen answers, to be read by a person.

use std::fmt::Write as _;

use proptest::prelude::*;
use retold::parse::{ParserSpec, registry};
use serde_json::json;

use crate::support::cases::cases;

fn snapshots_of(parser: &str, at_least: usize) {
    let cases = cases(parser);
    assert!(cases.len() >= at_least, "{parser}: found {} cases", cases.len());
    for case in cases {
        let mut text = format!("{}\n{:?}\n", case.params, case.answer);
        for version in registry::versions(parser).unwrap() {
            let name = parser.to_owned().into();
            let spec = ParserSpec { name, params: case.params.clone(), version };
            let (parsed, _) = registry::parser(&spec).unwrap().parse_any(&case.answer);
            writeln!(text, "\n{spec}\n  method:  {}", parsed.method).unwrap();
            writeln!(text, "  value:   {}", parsed.value).unwrap();
            if let Some(reasoning) = parsed.reasoning {
                writeln!(text, "  thought: {reasoning:?}").unwrap();
            }
            for warning in parsed.warnings {
                writeln!(text, "  warning: {warning}").unwrap();
            }
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true,
            snapshot_path => format!("snapshots/{parser}") }, {
            insta::assert_snapshot!(case.name, text);
        });
    }
}

#[test]
fn votes_on_frozen_answers() {
    snapshots_of("vote", 34);
}

#[test]
fn demographics_on_frozen_answers() {
    snapshots_of("demographics", 24);
}

#[test]
fn plain_answers_on_frozen_answers() {
    snapshots_of("free_text", 6);
    snapshots_of("moderator", 11);
    snapshots_of("vector", 3);
}

fn parse(parser: &str, params: serde_json::Value, text: &str) -> (String, serde_json::Value) {
    let spec = ParserSpec { name: parser.to_owned().into(), params, version: 1 };
    let (parsed, _) = registry::parser(&spec).unwrap().parse_any(text);
    (parsed.method.to_owned(), parsed.value)
}

proptest! {
    #[test]
    fn any_text_gives_a_decision(text in r#"(?s).{0,200}"#, cut in 0..80_usize) {
        let object = r#"{"age": 34, "sex": "F", "education": "Doctorate", "income": "Low income""#;
        let mut odd = object.get(..cut.min(object.len())).unwrap().to_owned();
        odd.push_str(&text);
        for parser in ["free_text", "moderator", "vector", "demographics"] {
            parse(parser, json!({}), &text);
            parse(parser, json!({}), &odd);
        }
        let options = json!({"options": ["Night buses", "Bike lanes", "Bike lanes downtown"]});
        let (_, value) = parse("vote", options.clone(), &text);
        let listed = options["options"].as_array().unwrap();
        prop_assert!(value.is_null() || listed.contains(&value));
    }

    /// An option wrapped in anything but letters and digits is that option.
    #[test]
    fn decoration_never_changes_a_vote(before in r#"[ \n"'*_`.(«]{0,9}"#, after in r#"[ \n"'*_`.)!»]{0,9}"#) {
        let options = json!({"options": ["Night buses", "Bike lanes"]});
        let (method, value) = parse("vote", options, &format!("{before}Bike lanes{after}"));
        prop_assert_eq!(value, json!("Bike lanes"));
        prop_assert!(method == "exact_text" || method == "normalised_text");
    }
}
