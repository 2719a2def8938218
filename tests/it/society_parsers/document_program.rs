//! Version 1 compared with the document's own program.
//!
//! `fixtures/society/document_program.jsonl` has answers of our own, generated over every field and
//! over the values that Pydantic coerces or refuses, and what the document's program (Python 3.11,
//! Pydantic 2.13) made of each.

use retold::parse::Parser;
use retold_society::parse::{Action, ActionParams, parser};
use serde_json::{Value, json};

use crate::support::cases::fixtures;

#[test]
fn action_1_is_the_documents_program_on_generated_answers() {
    let file = fixtures("society/document_program.jsonl");
    let parser = parser(1, ActionParams::default()).unwrap();
    let mut count = 0;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let parsed = parser.parse(row["answer"].as_str().unwrap());
        match row.get("errors") {
            None => assert_eq!(normal(&json!(parsed.value)), normal(&row["action"]), "{line}"),
            Some(errors) => {
                let errors: Vec<&str> =
                    errors.as_array().unwrap().iter().map(|e| e.as_str().unwrap()).collect();
                let reason = format!("Invalid action data: {}", errors.join("; "));
                let idle = Action::Idle { reasoning: Some(reason) };
                assert_eq!((parsed.value, parsed.method), (idle, "idle_invalid_data"), "{line}");
            }
        }
        count += 1;
    }
    assert!(count > 450, "{count} answers");
}

/// Python writes an amount of 3 as `3.0`, but JSON has only one kind of number.
fn normal(action: &Value) -> Value {
    let mut action = action.clone();
    if let Some(amount) = action.get("amount").and_then(Value::as_f64) {
        action["amount"] = json!(amount);
    }
    action
}
