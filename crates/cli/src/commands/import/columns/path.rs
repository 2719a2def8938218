//! The place of a value in a row.

use std::fmt;
use std::str::FromStr;

use retold::escaping::printable;
use serde_json::Value;

use super::rows::Row;

/// A column, a place within one (`doc.choices.0`), or a text that every row has (`=gpt-4o`).
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnPath {
    Place(String),
    Constant(Value),
}

/// A column that cannot be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum ColumnError {
    #[error("a column has a name")]
    NoName,
    #[error("a label is NAME or NAME=COLUMN")]
    Label,
    #[error("a condition is COLUMN=VALUE")]
    Condition,
}

impl FromStr for ColumnPath {
    type Err = ColumnError;

    fn from_str(text: &str) -> Result<Self, ColumnError> {
        match text.strip_prefix('=') {
            Some(constant) => Ok(ColumnPath::Constant(constant.into())),
            None if text.is_empty() => Err(ColumnError::NoName),
            None => Ok(ColumnPath::Place(text.to_owned())),
        }
    }
}

impl fmt::Display for ColumnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnPath::Place(place) => f.write_str(&printable(place, 80)),
            ColumnPath::Constant(text) => write!(f, "={}", printable(&text.to_string(), 80)),
        }
    }
}

impl ColumnPath {
    /// The value of a row; `None` if the row does not have the column.
    pub(super) fn value<'r>(&'r self, row: &'r Row) -> Option<&'r Value> {
        match self {
            ColumnPath::Constant(text) => Some(text),
            ColumnPath::Place(place) => within(&row.0, place).filter(|value| !value.is_null()),
        }
    }

    /// The value as text.
    pub(super) fn text(&self, row: &Row) -> Option<String> {
        self.value(row).and_then(text_of)
    }
}

/// The value at a place. A name may have dots in it itself: the longest name that there is counts.
pub(super) fn within<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    let of = |name: &str| match value {
        Value::Object(fields) => fields.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    };
    let shorter = || {
        let mut dots = place.rmatch_indices('.');
        dots.find_map(|(at, _)| within(of(place.get(..at)?)?, place.get(at + 1..)?))
    };
    of(place).or_else(shorter)
}

/// A value as text; `None` for null.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// All places of a row that have a value which is not a list or an object.
pub(super) fn places(row: &Row) -> Vec<String> {
    fn add(value: &Value, place: &str, all: &mut Vec<String>) {
        let below =
            |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| add(value, &below(name), all));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(at, value)| add(value, &below(&at.to_string()), all));
            }
            _ => all.push(place.to_owned()),
        }
    }
    let mut all = Vec::new();
    add(&row.0, "", &mut all);
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_a_name_or_leads_through_names_and_numbers() {
        let row =
            Row(json!({"a": {"b": ["x", {"c": 1}]}, "a.b": "dotted", "vars.q": "flat", "n": null}));
        let value = |place: &str| place.parse::<ColumnPath>().unwrap().text(&row);
        assert_eq!(value("a.b").as_deref(), Some("dotted"));
        assert_eq!(value("a.b.0").as_deref(), Some("x"), "the longest name leads nowhere");
        assert_eq!(value("a.b.1.c").as_deref(), Some("1"));
        assert_eq!(value("vars.q").as_deref(), Some("flat"));
        assert_eq!(value("=any text").as_deref(), Some("any text"));
        assert_eq!([value("n"), value("a.b.7"), value("z")], [None, None, None]);
        assert_eq!(places(&row), ["a.b.0", "a.b.1.c", "a.b", "n", "vars.q"]);
        assert!("".parse::<ColumnPath>().is_err());
    }
}
