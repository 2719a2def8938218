//! Explains mistakes in a config: what is wrong, where, and what would be right.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::Error;

use super::place::{ConfigValue, Outline};
use retold::explain::{explain, mismatch};

/// A mistake and its place.
pub(super) struct Mistake {
    /// From 1.
    pub(super) line: u64,
    /// From 1.
    pub(super) column: u64,
    /// In plain language.
    pub(super) message: String,
}

/// Rewords the YAML reader's error for the author of a config: a missing key is reported at the
/// beginning of the group that lacks it, and a value of the wrong type with what it is and what it
/// should be.
///
/// `said` is the error's message without its place.
pub(super) fn mistake<T: DeserializeOwned>(
    text: &str,
    place: (u64, u64),
    error: &Error,
    said: &str,
) -> Mistake {
    let told = |(line, column), message| Mistake { line, column, message };
    let plain = || told(place, explain(said));
    let Some(outline) = Outline::new(text) else { return plain() };
    if let Error::SerdeMissingField { field: missing, .. } = error {
        return match outline.group_at(place) {
            None => plain(),
            Some(ConfigValue { key, place, .. }) => {
                let group = match key.as_str() {
                    "" => "the config".to_owned(),
                    key => format!("the group {key}"),
                };
                told(place, format!("{group} lacks the key {missing:?}, which has no default"))
            }
        };
    }
    let is_about =
        |found: &ConfigValue| is_about_kind(error) || is_about_nothing(error, found, &outline);
    match outline.value_at(place).filter(is_about) {
        None => plain(),
        Some(ConfigValue { pointer, .. }) => {
            let whole = outline.value();
            let found = whole.pointer(&pointer).map_or_else(String::new, found);
            let expected = expected::<T>(&whole, &pointer);
            let expected = expected.unwrap_or_else(|| said_to_be_expected(error, said));
            told(place, explain(&format!("invalid type: {found}, expected {expected}")))
        }
    }
}

/// Whether a value has the wrong type.
fn is_about_kind(error: &Error) -> bool {
    matches!(
        error,
        Error::Unexpected { .. }
            | Error::SerdeInvalidType { .. }
            | Error::SerdeInvalidValue { .. }
            | Error::SerdeInvalidLength { .. }
            | Error::InvalidScalar { .. }
            | Error::InvalidBooleanStrict { .. }
            | Error::InvalidBinaryBase64 { .. }
            | Error::ExpectedEmptyMappingForUnitStruct { .. }
            | Error::ExpectedStringKeyForExternallyTaggedEnum { .. }
            | Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. }
    )
}

/// Whether a key has no value: in that case, the reader asks for other Rust types, or treats the
/// missing value as a value of that name.
fn is_about_nothing(error: &Error, found: &ConfigValue, outline: &Outline) -> bool {
    let is_odd = matches!(error, Error::NullIntoString { .. } | Error::SerdeUnknownVariant { .. });
    is_odd && outline.value().pointer(&found.pointer) == Some(&Value::Null)
}

/// What the YAML reader says was expected; it does not distinguish scalar types.
fn said_to_be_expected(error: &Error, said: &str) -> String {
    match error {
        Error::Unexpected { expected, .. } => (*expected).to_owned(),
        Error::SerdeInvalidType { expected, .. }
        | Error::SerdeInvalidValue { expected, .. }
        | Error::SerdeInvalidLength { expected, .. } => expected.clone(),
        Error::SerdeUnknownVariant { expected, .. } => format!("one of {}", expected.join(", ")),
        Error::InvalidScalar { ty, .. } => (*ty).to_owned(),
        Error::InvalidBooleanStrict { .. } => "a boolean".to_owned(),
        Error::NullIntoString { .. } => "a string".to_owned(),
        _ => said.to_owned(),
    }
}

/// What is expected at a place, found by putting a text there. `None` if another mistake comes
/// first.
fn expected<T: DeserializeOwned>(whole: &Value, pointer: &str) -> Option<String> {
    const MARK: &str = "what is expected here?";
    let mut whole = whole.clone();
    *whole.pointer_mut(pointer)? = Value::from(MARK);
    let Err(e) = T::deserialize(whole) else { return Some("a string".to_owned()) };
    let said = e.to_string();
    match mismatch(&said) {
        Some((found, expected)) => found.contains(MARK).then(|| expected.to_owned()),
        None => {
            let known = said.strip_prefix(&format!("unknown variant `{MARK}`, expected "))?;
            Some(known.replace('`', ""))
        }
    }
}

/// A value in the words that deserialisers use for it.
fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(it) => format!("boolean `{it}`"),
        Value::Number(it) => format!("integer `{it}`"),
        Value::String(it) => format!("string {it:?}"),
        Value::Array(_) => "sequence".to_owned(),
        Value::Object(_) => "map".to_owned(),
    }
}
