//! Where the settings of two runs differ.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

/// A setting that two runs do not share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingDifference {
    /// Its place: keys and numbers, joined by dots.
    pub path: String,
    /// In the first run; `None` if it is not there.
    pub one: Option<Value>,
    /// In the second run; `None` if it is not there.
    pub other: Option<Value>,
}

/// The values that differ, each at the deepest place where it does. Things in lists go by their
/// `name`, such as templates, if each has one; other lists of unequal length differ as wholes.
pub fn setting_differences(one: &Value, other: &Value) -> Vec<SettingDifference> {
    let mut found = Vec::new();
    differences("", Some(one), Some(other), &mut found);
    found
}

fn differences(
    path: &str,
    one: Option<&Value>,
    other: Option<&Value>,
    found: &mut Vec<SettingDifference>,
) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (one, other) {
        (one, other) if one == other => {}
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                differences(&below(key), one.get(key), other.get(key), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other)))
            if let (Some(one), Some(other)) = (by_name(one), by_name(other)) =>
        {
            let names: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
            for name in names {
                let (one, other) = (one.get(name).copied(), other.get(name).copied());
                differences(&below(name), one, other, found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            for (at, (one, other)) in one.iter().zip(other).enumerate() {
                differences(&below(&at.to_string()), Some(one), Some(other), found);
            }
        }
        (one, other) => {
            let (path, one, other) = (path.to_owned(), one.cloned(), other.cloned());
            found.push(SettingDifference { path, one, other });
        }
    }
}

/// The things in a list by their names, if each has one of its own.
fn by_name(list: &[Value]) -> Option<BTreeMap<&str, &Value>> {
    let names = list.iter().map(|thing| Some((thing.get("name")?.as_str()?, thing)));
    let names: BTreeMap<&str, &Value> = names.collect::<Option<_>>()?;
    (names.len() == list.len() && !list.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_value_is_named_where_it_differs() {
        let one = json!({"a": {"b": [1, 2], "c": 1}, "d": [1], "same": [{"x": 1}]});
        let other = json!({"a": {"b": [1, 3]}, "d": [1, 2], "e": null, "same": [{"x": 1}]});
        let paths = |one, other| {
            let found = setting_differences(one, other);
            found
                .iter()
                .map(|d| format!("{} {:?} {:?}", d.path, d.one, d.other))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            paths(&one, &other),
            [
                "a.b.1 Some(Number(2)) Some(Number(3))",
                "a.c Some(Number(1)) None",
                "d Some(Array [Number(1)]) Some(Array [Number(1), Number(2)])",
                "e None Some(Null)",
            ]
        );
        assert!(paths(&one, &one).is_empty());
        let prompts = |text: &str| json!([{"name": "vote", "text": text}, {"name": "talk"}]);
        let other = json!([{"name": "talk"}, {"name": "vote", "text": "b"}]);
        assert_eq!(
            paths(&prompts("a"), &other),
            [r#"vote.text Some(String("a")) Some(String("b"))"#]
        );
    }
}
