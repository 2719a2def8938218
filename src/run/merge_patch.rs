//! Changes of settings as JSON Merge Patch (RFC 7396): named fields are replaced, null removes, and the rest stays.

use serde_json::{Map, Value};

/// Applies a patch.
pub fn apply_patch(to: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *to = patch.clone();
        return;
    };
    if !to.is_object() {
        *to = Value::Object(Map::new());
    }
    let Value::Object(fields) = to else { return };
    for (name, change) in changes {
        match change {
            Value::Null => drop(fields.remove(name)),
            change => apply_patch(fields.entry(name.clone()).or_insert(Value::Null), change),
        }
    }
}

/// The patch that makes one value of another; `None` if they are equal.
pub fn patch_between(before: &Value, now: &Value) -> Option<Value> {
    if before == now {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (before, now) else { return Some(now.clone()) };
    let mut changes = Map::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        changes.insert(name.clone(), Value::Null);
    }
    for (name, value) in new {
        let change = match old.get(name) {
            Some(before) => patch_between(before, value),
            None => Some(value.clone()),
        };
        changes.extend(change.map(|change| (name.clone(), change)));
    }
    Some(Value::Object(changes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Appendix A of RFC 7396.
    #[test]
    fn patches_do_what_the_standard_says() {
        for (before, patch, after) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!("bar"), json!("bar")),
            (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            let mut patched = before.clone();
            apply_patch(&mut patched, &patch);
            assert_eq!(patched, after, "{before} {patch}");
        }
    }

    #[test]
    fn what_lies_between_leads_from_one_to_the_other() {
        let settings = json!({"limits": {"timeout_seconds": 120, "max_tokens": 900}, "seed": 1});
        let now =
            json!({"limits": {"timeout_seconds": 900}, "seed": 1, "retry": {"rule": "fixed"}});
        let patch = patch_between(&settings, &now).unwrap();
        let due = json!({"limits": {"timeout_seconds": 900, "max_tokens": null}, "retry": {"rule": "fixed"}});
        assert_eq!(patch, due);
        let mut patched = settings.clone();
        apply_patch(&mut patched, &patch);
        assert_eq!(patched, now);
        assert_eq!(patch_between(&settings, &settings), None);
    }
}
