//! JSON whose long texts are kept elsewhere in the log, as the package `condense-json` writes it:
//! `{"$": ID}` stands for a text or a value, `{"$r": [..]}` for a text of several pieces, `{"$": {"m": ID,
//! "u": {..}, "d": [..]}}` for a mapping with changes, and `{"$raw": ..}` for what only looks like that.

use serde_json::{Map, Value};

/// The value that an id stands for.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// Puts the texts and values that were kept elsewhere back; `None` if something is missing, or if it would amount to more
/// than `left` bytes.
pub(super) fn whole(value: Value, lookup: Lookup<'_>, left: &mut u64) -> Option<Value> {
    match value {
        Value::Array(items) => {
            items.into_iter().map(|item| whole(item, lookup, left)).collect::<Option<_>>()
        }
        Value::Object(mut fields) if fields.len() == 1 => {
            if let Some(raw) = fields.remove("$raw") {
                return match raw {
                    Value::Object(fields) => each(fields, lookup, left),
                    other => whole(other, lookup, left),
                };
            }
            match fields.remove("$") {
                Some(Value::String(id)) => return find(&id, lookup, left),
                Some(Value::Object(merge)) => return apply_merge(merge, lookup, left),
                Some(_) => return None,
                None => {}
            }
            match fields.remove("$r") {
                Some(Value::Array(pieces)) => text(pieces, lookup, left),
                Some(_) => None,
                None => each(fields, lookup, left),
            }
        }
        Value::Object(fields) => each(fields, lookup, left),
        other => Some(other),
    }
}

fn each(fields: Map<String, Value>, lookup: Lookup<'_>, left: &mut u64) -> Option<Value> {
    let fields = fields.into_iter().map(|(name, value)| Some((name, whole(value, lookup, left)?)));
    fields.collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn find(id: &str, lookup: Lookup<'_>, left: &mut u64) -> Option<Value> {
    let value = lookup(id)?;
    let bytes = value.as_str().map_or_else(|| value.to_string().len(), str::len);
    *left = left.checked_sub(bytes as u64)?;
    Some(value)
}

fn text(pieces: Vec<Value>, lookup: Lookup<'_>, left: &mut u64) -> Option<Value> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Value::String(piece) => text.push_str(&piece),
            Value::Object(fields) if fields.len() == 1 => {
                text.push_str(find(fields.get("$")?.as_str()?, lookup, left)?.as_str()?);
            }
            _ => return None,
        }
    }
    Some(text.into())
}

fn apply_merge(mut merge: Map<String, Value>, lookup: Lookup<'_>, left: &mut u64) -> Option<Value> {
    let Value::Object(mut base) = find(merge.get("m")?.as_str()?, lookup, left)? else {
        return None;
    };
    for name in merge.get("d").and_then(Value::as_array).into_iter().flatten() {
        base.remove(name.as_str()?)?;
    }
    if let Some(Value::Object(changes)) = merge.remove("u") {
        for (name, value) in changes {
            base.insert(name, whole(value, lookup, left)?);
        }
    }
    Some(base.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of the package, and what must not be believed.
    #[test]
    fn what_was_condensed_is_whole_again() {
        let lookup = |id: &str| match id {
            "1" => Some(json!("with foxes in it")),
            "base" => Some(json!({"a": 1, "b": 2})),
            _ => None,
        };
        let is = |condensed: Value| whole(condensed, &lookup, &mut 100);
        for (condensed, due) in [
            (json!({"$": "1"}), Some(json!("with foxes in it"))),
            (json!([{"$r": ["more ", {"$": "1"}, "!"]}]), Some(json!(["more with foxes in it!"]))),
            (json!({"$": "base"}), Some(json!({"a": 1, "b": 2}))),
            (
                json!({"x": {"$": {"m": "base", "u": {"c": {"$": "1"}}, "d": ["a"]}}}),
                Some(json!({"x": {"b": 2, "c": "with foxes in it"}})),
            ),
            (json!({"$raw": {"$": "1"}}), Some(json!({"$": "1"}))),
            (json!({"$": "1", "other": 1}), Some(json!({"$": "1", "other": 1}))),
            (json!({"$": "unknown"}), None),
            (json!({"$": 1}), None),
            (json!({"$r": "text"}), None),
            (json!({"$r": [{"$": "base"}]}), None),
            (json!({"$": {"m": "1"}}), None),
            (json!({"$": {"m": "base", "d": ["z"]}}), None),
            (json!(vec![json!({"$": "1"}); 7]), None),
        ] {
            assert_eq!(is(condensed.clone()), due, "{condensed}");
        }
    }
}
