//! The assertions of the original project's tests. Needs `../shared/data`.

use retold::parse::Parser;
use retold_adventure::parse::{clean_text, narrative_parser};
use serde_json::{Value, json};

use crate::support::data::rows;

/// The value at a path such as `suggestedActions[0].title`, in the original's names.
fn at(answer: &Value, path: &str) -> Value {
    let mut value = answer.clone();
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        value = match step {
            // The original stores the opponent as an object, and calls an action's text its title.
            "opponent" => json!({ "name": value["opponent"] }),
            "title" => value["text"].clone(),
            "length" => json!(value.as_array().unwrap().len()),
            step => match step.parse::<usize>() {
                Ok(index) => value[index].clone(),
                Err(_) => value[step].clone(),
            },
        };
    }
    value
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_19_assertions_of_the_original_adventure_parser_hold() {
    let parser = narrative_parser().unwrap();
    let mut count = 0;
    for row in rows("adventure", "test_assertions.jsonl") {
        let input = row["input"].as_str().unwrap();
        let mut answer = json!(parser.parse(input).value);
        answer["cleanText"] = json!(clean_text(input));
        for assert in row["assert"].as_array().unwrap() {
            let found = at(&answer, assert["path"].as_str().unwrap());
            let (text, value) = (found.as_str().unwrap_or_default(), &assert["value"]);
            let holds = match assert["op"].as_str().unwrap() {
                "contains" => text.contains(value.as_str().unwrap()),
                "not_contains" => !text.contains(value.as_str().unwrap()),
                "equals" => &found == value,
                "absent" => found.is_null(),
                op => panic!("unknown op {op}"),
            };
            assert!(holds, "{}: {assert} but found {found}", row["name"]);
        }
        count += 1;
    }
    assert_eq!(count, 19);
}
