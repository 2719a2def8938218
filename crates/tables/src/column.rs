//! Columns, and the values in them.

use std::borrow::Cow;

use arrow_schema::{DataType, Field, TimeUnit};
use serde_json::Value;

/// The time zone of all times, as an offset: its name would need a database of time zones.
pub(crate) const UTC: &str = "+00:00";

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8.
    Text,
    /// JSON, as UTF-8.
    Json,
    /// 64 bits with a sign, because pandas and Spark know no others.
    Integer,
    /// 64 bits.
    Real,
    /// True or false.
    Truth,
    /// Milliseconds, UTC.
    Time,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The type of its values.
    pub kind: ColumnKind,
    /// Its description, for the documentation.
    pub about: &'static str,
}

impl Column {
    /// The column of Arrow. Any value may be missing: a run may be read before it has ended.
    pub(crate) fn field(&self) -> Field {
        let kind = match self.kind {
            ColumnKind::Text | ColumnKind::Json => DataType::Utf8,
            ColumnKind::Integer => DataType::Int64,
            ColumnKind::Real => DataType::Float64,
            ColumnKind::Truth => DataType::Boolean,
            ColumnKind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some(UTC.into())),
        };
        Field::new(&*self.name, kind, true)
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'a> {
    Missing,
    Text(Cow<'a, str>),
    Integer(i64),
    Real(f64),
    Truth(bool),
    Time(i64),
}

impl<'a> Cell<'a> {
    /// JSON as text; nothing if there is none.
    pub(crate) fn json(value: &Value) -> Self {
        match value {
            Value::Null => Cell::Missing,
            value => value.to_string().into(),
        }
    }

    /// A text that may be missing.
    pub(crate) fn maybe(text: Option<&'a str>) -> Self {
        text.map_or(Cell::Missing, Cell::from)
    }

    /// A number of a log, which JSON holds exactly.
    pub(crate) fn count(number: impl Into<Option<u64>>) -> Self {
        number.into().and_then(|it| i64::try_from(it).ok()).map_or(Cell::Missing, Cell::Integer)
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Cell::Text(text.into())
    }
}
