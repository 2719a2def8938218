//! What every fuzz target checks, and so does the smoke run of the tests
//! (`tests/it/fuzz_smoke.rs`): the text is parsed twice, without a panic, to the same decision.

use std::sync::LazyLock;

use retold::parse::json_repair;
use retold::parse::{ParserSpec, Parsers};
use retold_study::Registration;
use serde_json::{Value, json};

/// The parsers of the five studies.
pub static PARSERS: LazyLock<Parsers> = LazyLock::new(|| {
    let studies: [&dyn Registration; 5] = [
        &retold_game24::Game24Study,
        &retold_deliberation::DeliberationStudy,
        &retold_public_goods::PublicGoodsStudy,
        &retold_society::SocietyStudy,
        &retold_adventure::AdventureStudy,
    ];
    let mut parsers = Parsers::default();
    for study in studies {
        parsers.add(study.parsers()).expect("each parser has a name of its own");
    }
    parsers
});

/// Checks one input against every version of a parser.
///
/// # Panics
/// If a parser does, or if two decisions about one text differ.
pub fn fuzz_one(parser: &str, data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if parser == "json_repair" {
        return repair(&text);
    }
    for version in PARSERS.versions(parser).unwrap_or_default().iter().copied() {
        let spec = ParserSpec { name: parser.to_owned().into(), params: params(parser), version };
        let made = PARSERS.parser(&spec).expect("the settings fit");
        let first = made.parse_any(&text);
        assert_eq!(first, made.parse_any(&text), "{spec} decides differently on one text");
        bounded(parser, &first.0.value);
    }
}

/// Settings that let a parser use all its rules.
#[must_use]
pub fn params(parser: &str) -> Value {
    match parser {
        "game24" => json!({ "numbers": [4, 6, 7, 8] }),
        "redistribution" => json!({ "targets": 3 }),
        "vote" => json!({ "options": ["Park improvements", "Senior services", "A grant"] }),
        _ => Value::Null,
    }
}

/// What is true of every decision.
fn bounded(parser: &str, value: &Value) {
    match parser {
        "contribution_json" if value.is_null() => {}
        "contribution" | "contribution_json" => {
            assert!(value.as_i64().is_some_and(|coins| (0..=20).contains(&coins)), "{value}");
        }
        "redistribution" => {
            let units = value.as_array().expect("a list");
            let fits = |n: &Value| n.as_i64().is_some_and(|n| n >= 0);
            assert!(units.len() == 3 && units.iter().all(fits), "{value}");
        }
        "narrative" => {
            let options = value["playerDecision"]["options"].as_array();
            assert!(options.is_none_or(|options| options.len() >= 2), "{value}");
        }
        _ => {}
    }
}

fn repair(text: &str) {
    let repaired = json_repair::repair(text);
    assert_eq!(repaired, json_repair::repair(text));
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        assert_eq!(repaired.value, Some(value), "valid JSON keeps its value");
    }
    // Parsing one value leaves nothing behind that affects the next.
    let mut at = 0;
    for value in json_repair::values(text) {
        let alone = json_repair::first(&text[at..]).expect("it is there");
        let same = (&alone.value, &alone.repairs) == (&value.value, &value.repairs);
        assert!(same && at + alone.end == value.end, "{alone:?} at {at}, and {value:?}");
        at = value.end.max(value.start + 1);
    }
    let written = serde_json::to_string(&repaired.value).expect("a value is JSON");
    assert!(serde_json::from_str::<Value>(&written).is_ok());
}
