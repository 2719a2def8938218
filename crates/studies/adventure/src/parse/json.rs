//! An answer that is one JSON object, as the later prompts of the original project ask for it. Keys
//! may be spelled differently (`acquired_items`, `LOCATION`).

use serde_json::{Map, Value};

use super::decision::{self, accept};
use super::items::{And, split};
use super::markers;
use super::model::Narrative;
use super::names::{Thing, names, one};
use super::suggested::actions_from_value;
use retold::parse::json_repair::{self, EmbeddedJson};
use retold::parse::keys::lookup;

/// Keys of which an answer in JSON has at least one.
const KEYS: [&str; 4] = ["narrative", "playerDecision", "suggestedActions", "location"];

/// The object that is the whole of a text, or the only element of an array that is.
pub(super) fn whole(text: &str, warnings: &mut Vec<String>) -> Option<Map<String, Value>> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let embedded = json_repair::first(text)?;
    let behind = text.get(embedded.end..).unwrap_or("");
    if !behind.trim_matches(['`', '\n', ' ', '}']).is_empty() {
        return None;
    }
    answer(embedded, warnings)
}

/// The first object at the beginning of a line, if it is an answer, and the surrounding words.
/// `None` if these have a decision, or if both tell a story with markers.
pub(super) fn inside(
    text: &str,
    warnings: &mut Vec<String>,
) -> Option<(Map<String, Value>, String)> {
    let open = if text.starts_with('{') { 0 } else { text.find("\n{")? + 1 };
    let (before, rest) = text.split_at_checked(open)?;
    let embedded = json_repair::first(rest)?;
    let behind = rest.get(embedded.end..)?.trim();
    let mut said = Vec::new();
    let object = answer(embedded, &mut said)?;
    let before = before.trim();
    let fence = before.strip_suffix("json").unwrap_or(before).strip_suffix("```");
    let behind = fence.and_then(|_| behind.strip_prefix("```")).unwrap_or(behind);
    let around = format!("{}\n\n{}", fence.unwrap_or(before).trim(), behind.trim());
    let around = around.trim();
    let is_mixed = decision::any(around) || tells(&object) && markers::any(around);
    if is_mixed || object.len() == 1 && get(&object, "playerDecision").is_some() {
        return None;
    }
    warnings.append(&mut said);
    Some((object, around.to_owned()))
}

/// The object of an answer, with the repairs of its text.
fn answer(embedded: EmbeddedJson, warnings: &mut Vec<String>) -> Option<Map<String, Value>> {
    let object = match embedded.value {
        Value::Object(object) => object,
        Value::Array(items) => match <[Value; 1]>::try_from(items) {
            Ok([Value::Object(object)]) => object,
            _ => return None,
        },
        _ => return None,
    };
    KEYS.iter().find_map(|key| get(&object, key))?;
    warnings.extend(embedded.repairs.iter().map(|r| format!("JSON: {}", r.as_str())));
    Some(object)
}

/// Whether an object has a story.
pub(super) fn tells(object: &Map<String, Value>) -> bool {
    get(object, "narrative").is_some()
}

/// The answer in an object. Its narrative may still contain markers.
pub(super) fn read(object: &Map<String, Value>, warnings: &mut Vec<String>) -> Narrative {
    let get = |key: &str| get(object, key);
    // The text as written; a text consisting of white space tells nothing.
    let story = get("narrative")
        .and_then(Value::as_str)
        .filter(|t| !t.trim().is_empty())
        .map(str::to_owned);
    let mut narrative = Narrative {
        narrative: story.unwrap_or_default(),
        location: get("location").and_then(|value| one(value, Thing::Place)),
        acquired_items: item_names(get("acquiredItems")),
        removed_items: item_names(get("removedItems")),
        opponent: ["opponent", "combat"].iter().find_map(|key| one(get(key)?, Thing::Opponent)),
        ..Narrative::default()
    };
    if let Some(actions) = get("suggestedActions") {
        narrative.suggested_actions = actions_from_value(actions, warnings);
    }
    if let Some(decision) = get("playerDecision").filter(|d| !d.is_null()) {
        accept(decision, &mut narrative, warnings);
    }
    narrative
}

/// The value of a key, in any spelling.
fn get<'m>(object: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    lookup(object, key).map(|(value, _)| value)
}

fn item_names(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(list)) => split(list, And::Ends),
        Some(value) => names(value, Thing::Item),
        None => Vec::new(),
    }
}
