//! Laws of the parsers of votes, demographics and plain answers. `frozen_answers` has their
//! decisions on frozen answers.

use crate::support::parsers as registry;
use proptest::prelude::*;
use retold::parse::ParserSpec;
use serde_json::json;

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

    /// An option surrounded by anything but letters and digits is still that option.
    #[test]
    fn decoration_never_changes_a_vote(before in r#"[ \n"'*_`.(«]{0,9}"#, after in r#"[ \n"'*_`.)!»]{0,9}"#) {
        let options = json!({"options": ["Night buses", "Bike lanes"]});
        let (method, value) = parse("vote", options, &format!("{before}Bike lanes{after}"));
        prop_assert_eq!(value, json!("Bike lanes"));
        prop_assert!(method == "exact_text" || method == "normalised_text");
    }
}
