//! The settings in which two runs differ.

use std::collections::BTreeSet;

use retold::counted::count_of;
use retold::escaping::printable;
use serde_json::{Map, Value};

/// How much of a value is shown, in characters.
const SHOWN: usize = 60;

/// A setting that two runs have differently.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SettingDifference {
    /// The keys that lead to it. A part of a list is called by its `name`, or else by its number.
    pub(crate) path: Vec<String>,
    pub(crate) planned: Value,
    pub(crate) found: Value,
}

impl SettingDifference {
    /// Its key, without the `config` in which studies keep those of their files.
    pub(crate) fn key(&self) -> String {
        let path =
            self.path.iter().skip(usize::from(self.path.first().is_some_and(|it| it == "config")));
        printable(&path.map(String::as_str).collect::<Vec<_>>().join("."), 100)
    }
}

/// The settings that two runs have differently, as far down as both have the same keys.
pub(crate) fn setting_differences(planned: &Value, found: &Value) -> Vec<SettingDifference> {
    let mut differences = Vec::new();
    compare(&mut Vec::new(), planned, found, &mut differences);
    differences
}

fn compare(
    path: &mut Vec<String>,
    planned: &Value,
    found: &Value,
    differences: &mut Vec<SettingDifference>,
) {
    let mut below = |key: &str, planned: &Value, found: &Value| {
        path.push(key.to_owned());
        compare(path, planned, found, differences);
        path.pop();
    };
    match (planned, found) {
        (planned, found) if planned == found => {}
        (Value::Object(planned), Value::Object(found)) => {
            let keys: BTreeSet<&String> = planned.keys().chain(found.keys()).collect();
            let of =
                |map: &Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or_default();
            for key in keys {
                below(key, &of(planned, key), &of(found, key));
            }
        }
        (Value::Array(planned), Value::Array(found)) if planned.len() == found.len() => {
            for (at, (planned, found)) in planned.iter().zip(found).enumerate() {
                let name = planned["name"].as_str().map_or_else(|| at.to_string(), str::to_owned);
                below(&name, planned, found);
            }
        }
        (planned, found) => {
            let (planned, found) = (planned.clone(), found.clone());
            differences.push(SettingDifference { path: path.clone(), planned, found });
        }
    }
}

/// A value of a setting in a few words.
pub(crate) fn value_words(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => printable(text, SHOWN),
        Value::Array(list) => count_of(list.len() as u64, "part"),
        Value::Object(fields) => count_of(fields.len() as u64, "setting"),
        other => printable(&other.to_string(), SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_have_the_keys_that_lead_to_them() {
        let one = json!({"config": {"n": 3, "same": 1}, "prompts": [{"name": "first", "text": "a"}, {"name": "second", "text": "b"}],
            "list": [1, 2], "gone": true});
        let other = json!({"config": {"n": 4, "same": 1}, "prompts": [{"name": "first", "text": "a"}, {"name": "second", "text": "c"}],
            "list": [1]});
        let found = setting_differences(&one, &other);
        let keys: Vec<String> = found.iter().map(SettingDifference::key).collect();
        assert_eq!(keys, ["n", "gone", "list", "prompts.second.text"]);
        assert_eq!(value_words(&found[2].planned), "2 parts");
        assert_eq!(value_words(&found[1].found), "not set");
        assert!(setting_differences(&one, &one).is_empty());
    }
}
