//! An answer that is one JSON object, as the later prompts of the original project ask for it.

use serde_json::{Map, Value};

use super::decision::{accept, texts};
use super::model::Narrative;
use super::suggested::{actions_from_value, filled};

/// Keys of which an answer in JSON has at least one.
const KEYS: [&str; 4] = ["narrative", "playerDecision", "suggestedActions", "location"];

/// Whether an object is such an answer.
pub(super) fn is_answer(object: &Map<String, Value>) -> bool {
    KEYS.iter().any(|key| object.contains_key(*key))
}

/// The answer in an object. Its narrative may still hold markers.
pub(super) fn read(object: &Map<String, Value>, warnings: &mut Vec<String>) -> Narrative {
    let text = |key: &str| filled(object.get(key)?.as_str()?);
    let mut narrative = Narrative {
        narrative: text("narrative").unwrap_or_default(),
        location: object.get("location").and_then(named),
        acquired_items: names(object.get("acquiredItems")),
        removed_items: names(object.get("removedItems")),
        opponent: object.get("opponent").and_then(named).or_else(|| text("combat")),
        ..Narrative::default()
    };
    if let Some(actions) = object.get("suggestedActions") {
        narrative.suggested_actions = actions_from_value(actions, warnings);
    }
    if let Some(decision) = object.get("playerDecision").filter(|d| !d.is_null()) {
        accept(decision, &mut narrative);
    }
    narrative
}

/// A text, or the name of an object.
fn named(value: &Value) -> Option<String> {
    filled(value.as_str().or_else(|| value.get("name")?.as_str())?)
}

fn names(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(named).collect(),
        other => texts(other),
    }
}
