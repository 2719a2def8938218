//! JSON in which no object has the same key twice.
//!
//! Readers of JSON take the last of two values silently. In settings that somebody types, one of
//! the two is a mistake, and we cannot know which.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A JSON value whose objects have each key once, at any depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Unique(pub Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueReader).map(Unique)
    }
}

struct UniqueReader;

impl<'de> Visitor<'de> for UniqueReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Unique(value))) = members.next_entry::<String, Unique>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} is given twice")));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        serde_json::from_str(text).map(|Unique(value)| value).map_err(|e| e.to_string())
    }

    #[test]
    fn a_doubled_key_is_refused_at_any_depth() {
        let due = "the key \"a\" is given twice at line 1 column";
        for text in
            [r#"{"a":1,"a":1}"#, r#"{"b":{"a":1,"c":2,"a":3}}"#, r#"[[{"a":[],"\u0061":{}}]]"#]
        {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(due), "{text}: {error}");
        }
        assert!(read(r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"A":3}"#).is_ok());
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Anything else is read as serde_json reads it.
        #[test]
        fn other_json_is_read_as_usual(value in anything()) {
            let text = value.to_string();
            prop_assert_eq!(read(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
        }
    }
}
