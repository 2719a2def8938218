//! Names in JSON values, in the forms that models use for one name or a list.

use serde_json::Value;

use super::items::name_if_any;

/// The kind of thing that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Item,
    Place,
    Opponent,
}

/// The names in a value: texts, and the `name` of objects. If there is none, an object of items has
/// them as keys (`{"rope": 2}`), unless it has no keys; other objects have them as texts (`{"town":
/// "Boot Hill"}`). Quotes and brackets in a name belong to it.
pub(super) fn names(value: &Value, thing: Thing) -> Vec<String> {
    let all = |values: &mut dyn Iterator<Item = &Value>| {
        values.flat_map(|value| name(value, thing)).collect()
    };
    match value {
        Value::Array(values) => all(&mut values.iter()),
        value => all(&mut std::iter::once(value)),
    }
}

/// The only name, or all of them combined: `Sal and Joe`.
pub(super) fn one(value: &Value, thing: Thing) -> Option<String> {
    let names = names(value, thing);
    let between = if thing == Thing::Opponent { " and " } else { ", " };
    (!names.is_empty()).then(|| names.join(between))
}

/// The names in one entry of a list.
fn name(value: &Value, thing: Thing) -> Vec<String> {
    let text = |value: &Value| name_if_any(value.as_str()?.trim());
    let Value::Object(object) = value else {
        return text(value).into_iter().collect();
    };
    if let Some(name) = object.get("name") {
        return text(name).into_iter().collect();
    }
    let is_none = |value: &Value| {
        value.is_null() || value == &Value::Bool(false) || value.as_f64() == Some(0.0)
    };
    let given = object.iter().filter(|(_, value)| !is_none(value));
    match thing {
        Thing::Item => given.filter_map(|(key, _)| name_if_any(key.trim())).collect(),
        Thing::Place | Thing::Opponent => given.filter_map(|(_, value)| text(value)).collect(),
    }
}
