//! Values as OTLP writes them in JSON (`AnyValue` and `KeyValue` of opentelemetry-proto, in the JSON mapping of Protocol
//! Buffers: integers of 64 bits are texts).

use serde_json::{Map, Number, Value, json};

/// How deep values of a file may be in each other.
const DEEPEST: usize = 64;

/// An attribute.
pub(crate) fn attribute(name: &str, value: Value) -> Value {
    json!({"key": name, "value": value})
}

/// A text.
pub(crate) fn text(text: &str) -> Value {
    json!({"stringValue": text})
}

/// An integer.
pub(crate) fn integer(number: impl ToString) -> Value {
    json!({"intValue": number.to_string()})
}

/// A number with a fraction, even if it is whole.
pub(crate) fn real(number: f64) -> Value {
    json!({"doubleValue": number})
}

/// A truth value.
pub(crate) fn truth(truth: bool) -> Value {
    json!({"boolValue": truth})
}

/// A list of texts.
pub(crate) fn texts<'a>(all: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"arrayValue": {"values": all.into_iter().map(text).collect::<Vec<_>>()}})
}

/// The attributes of a list, as JSON has them.
pub(crate) fn attributes(list: &Value) -> Map<String, Value> {
    key_values(list, DEEPEST)
}

/// A value, as JSON has it; null if it is none of those that OTLP has.
pub(crate) fn plain(value: &Value) -> Value {
    plain_within(value, DEEPEST)
}

fn key_values(list: &Value, deep: usize) -> Map<String, Value> {
    let all = list.as_array().into_iter().flatten();
    let named = all.filter_map(|item| {
        let name = item["key"].as_str()?;
        Some((name.to_owned(), plain_within(&item["value"], deep)))
    });
    named.collect()
}

fn plain_within(value: &Value, deep: usize) -> Value {
    let Some(deep) = deep.checked_sub(1) else { return Value::Null };
    let Some((kind, inner)) = value.as_object().and_then(|fields| fields.iter().next()) else {
        return Value::Null;
    };
    match kind.as_str() {
        "stringValue" | "boolValue" | "bytesValue" => inner.clone(),
        "intValue" => number(inner),
        // Protocol Buffers write numbers that JSON does not have as texts.
        "doubleValue" => match inner {
            Value::String(text) => {
                text.parse().ok().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
            }
            inner => inner.clone(),
        },
        "arrayValue" => {
            let items = inner["values"].as_array().into_iter().flatten();
            items.map(|item| plain_within(item, deep)).collect()
        }
        "kvlistValue" => Value::Object(key_values(&inner["values"], deep)),
        _ => Value::Null,
    }
}

/// An integer of 64 bits: a text, or a number where a program does not keep to the rule.
pub(crate) fn number(value: &Value) -> Value {
    match value {
        Value::String(text) => text.parse::<i64>().map_or(Value::Null, Value::from),
        value => value.as_i64().map_or(Value::Null, Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        for (written, due) in [
            (text("a\u{1F600}"), json!("a\u{1F600}")),
            (integer(u32::MAX), json!(u32::MAX)),
            (real(1.0), json!(1.0)),
            (truth(false), json!(false)),
            (texts(["a", "b"]), json!(["a", "b"])),
        ] {
            assert_eq!(plain(&written), due);
        }
        let list = json!([attribute(
            "a",
            json!({"kvlistValue": {"values": [{"key": "b", "value": {"intValue": 7}}]}})
        )]);
        assert_eq!(Value::Object(attributes(&list)), json!({"a": {"b": 7}}));
    }

    #[test]
    fn what_is_not_a_value_is_null() {
        let mut deep = text("x");
        for _ in 0..DEEPEST {
            deep = json!({"arrayValue": {"values": [deep]}});
        }
        assert!(plain(&deep).to_string().contains("null"));
        for wrong in [
            json!(null),
            json!({}),
            json!({"intValue": "1e5"}),
            json!({"doubleValue": "NaN"}),
            json!({"other": 1}),
        ] {
            assert_eq!(plain(&wrong), Value::Null, "{wrong}");
        }
        assert_eq!(attributes(&json!([1, {"value": text("a")}])), Map::new());
    }
}
