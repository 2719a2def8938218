//! A value of a file, in YAML or JSON: what JSON has, and bytes.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error, Serialize, Serializer};
use serde_json::{Number, Value as Json};

/// A value, and where it begins.
#[derive(Debug, Clone)]
pub(crate) struct LocatedValue {
    /// The line, from 1; 0 if it is not known.
    pub(crate) line: u32,
    /// The value.
    pub(crate) value: Value,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<LocatedValue>),
    Map(Vec<(String, LocatedValue)>),
}

impl Value {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

impl LocatedValue {
    pub(crate) fn new(value: Value) -> Self {
        LocatedValue { line: 0, value }
    }

    /// A field of a mapping, if it is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&LocatedValue> {
        let Value::Map(fields) = &self.value else { return None };
        let found = fields.iter().find(|(field, _)| field == name);
        found.map(|(_, node)| node).filter(|node| !matches!(node.value, Value::Null))
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[LocatedValue]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn map(&self) -> Option<&[(String, LocatedValue)]> {
        match &self.value {
            Value::Map(fields) => Some(fields),
            _ => None,
        }
    }

    /// As the text of JSON, with fields in the order of the file; bytes that are not UTF-8 have no
    /// such form.
    pub(crate) fn text_of_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// As JSON; bytes that are not UTF-8 have no such form.
    pub(crate) fn json(&self) -> Option<Json> {
        serde_json::to_value(self).ok()
    }
}

impl Serialize for LocatedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) => number.serialize(serializer),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => serializer.serialize_str(text),
                Err(error) => Err(S::Error::custom(error)),
            },
            Value::List(items) => serializer.collect_seq(items),
            Value::Map(fields) => {
                serializer.collect_map(fields.iter().map(|(name, field)| (name, field)))
            }
        }
    }
}

/// Fields in the order in which their names came first, with the values that came last, as the tools
/// that write these files read them.
pub(crate) fn once(fields: Vec<(String, LocatedValue)>) -> Vec<(String, LocatedValue)> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut out: Vec<(String, LocatedValue)> = Vec::with_capacity(fields.len());
    for (name, node) in fields {
        match places.get(&name).and_then(|at| out.get_mut(*at)) {
            Some(known) => known.1 = node,
            None => {
                places.insert(name.clone(), out.len());
                out.push((name, node));
            }
        }
    }
    out
}

impl<'de> Deserialize<'de> for LocatedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfJson).map(LocatedValue::new)
    }
}

/// Reads a value out of JSON.
struct OfJson;

impl<'de> Visitor<'de> for OfJson {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all: Vec<(String, LocatedValue)> = Vec::new();
        while let Some(field) = fields.next_entry::<String, LocatedValue>()? {
            all.push(field);
        }
        Ok(Value::Map(once(all)))
    }
}
