//! `check --list`: which parsers there are.

use serde_json::{Value, json};

use crate::support::cli::Place;
use crate::support::parsers as registry;

#[test]
fn every_version_is_listed_with_its_strategies_in_order() {
    let place = Place::new();
    let (listed, code) = place.json("check --list");
    let listed = listed["parsers"].as_array().unwrap();
    assert_eq!(code, 0);
    let mut names: Vec<(&str, u64)> = listed
        .iter()
        .map(|it| (it["name"].as_str().unwrap(), it["version"].as_u64().unwrap()))
        .collect();
    names.sort_unstable();
    let mut known: Vec<(&str, u64)> =
        registry::all().map(|(name, version)| (name, u64::from(version))).collect();
    known.sort_unstable();
    assert_eq!(names, known);
    let all_have_strategies =
        listed.iter().all(|it| !it["strategies"].as_array().unwrap().is_empty());
    assert!(all_have_strategies, "{listed:?}");
    for parser in listed {
        let strategies = parser["strategies"].as_array().unwrap();
        let different: std::collections::BTreeSet<&str> =
            strategies.iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(different.len(), strategies.len(), "each once: {parser}");
    }
    let of = |name: &str, version: u64| -> &Value {
        listed.iter().find(|it| it["name"] == name && it["version"] == version).unwrap()
    };
    let first = of("contribution", 1);
    assert_eq!(
        first["strategies"],
        json!(["contribute_tag", "whole_text_integer", "first_number"])
    );
    assert_eq!((&first["last_resort"], &first["default"]), (&json!("default"), &json!(false)));
    assert_eq!(first["settings"], json!({"contribution_type": "variable", "endowment": 20}));
    assert_eq!(of("contribution", 2)["default"], true);
    assert_eq!(of("vote", 1)["has_default_settings"], false);
    assert_eq!(of("action", 2)["studies"], json!(["society", "society_log"]));
}

#[test]
fn the_list_is_for_people_and_may_have_one_parser() {
    let place = Place::new();
    let said = place.ok("check --list --parser action");
    assert!(said.starts_with("action@2  (default)\n    strategies: json_action, "), "{said}");
    assert!(said.contains("\naction@1\n") && !said.contains("vote@"), "{said}");
    assert!(!place.path("retold.db").exists());
    let said = place.run("check --list --parser nobody");
    assert_eq!(said.code, 2, "{}", said.err);
    let said = place.run("check --list latest");
    assert_eq!(said.code, 2, "a list is of no run: {}", said.err);
}
