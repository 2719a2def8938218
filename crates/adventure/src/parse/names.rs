//! Names in JSON values, as models write them where one name or a list of them is meant.

use serde_json::Value;

use super::items::named;

/// What the names are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    Item,
    Place,
    Opponent,
}

/// The names in a value: texts, and of objects their `name`. Without one, an object of items has them as
/// keys (`{"rope": 2}`), unless there are none of them; other objects have them as texts (`{"town": "Boot
/// Hill"}`). The quotes and brackets of a name are its own.
pub(super) fn names(value: &Value, thing: Thing) -> Vec<String> {
    let all = |values: &mut dyn Iterator<Item = &Value>| {
        values.flat_map(|value| name(value, thing)).collect()
    };
    match value {
        Value::Array(values) => all(&mut values.iter()),
        value => all(&mut std::iter::once(value)),
    }
}

/// The only name, or all of them in one: `Sal and Joe`.
pub(super) fn one(value: &Value, thing: Thing) -> Option<String> {
    let names = names(value, thing);
    let between = if thing == Thing::Opponent { " and " } else { ", " };
    (!names.is_empty()).then(|| names.join(between))
}

/// The names of one entry of a list.
fn name(value: &Value, thing: Thing) -> Vec<String> {
    let text = |value: &Value| named(value.as_str()?.trim());
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
        Thing::Item => given.filter_map(|(key, _)| named(key.trim())).collect(),
        Thing::Place | Thing::Opponent => given.filter_map(|(_, value)| text(value)).collect(),
    }
}
