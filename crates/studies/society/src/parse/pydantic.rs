//! Fields as the document's models read them: Pydantic 2 in its default, lax mode.
//!
//! The accepted values were compared with Pydantic 2.13 on generated objects (see the tests):
//! - whole numbers: also `true`, `3.0`, `"3"`, `" +0_3.00 "`; not `3.5`, `null` or lists;
//! - numbers: also `true` and `"1.5"`;
//! - text: only text, with its length counted in characters; words only in their exact spelling;
//! - other fields are ignored.
//!
//! Differences: infinite and undefined amounts, which Pydantic accepts from `"inf"`, are refused,
//! because JSON cannot represent them. Integers beyond 64 bits become the nearest that fits. The
//! messages are Pydantic's without the input's value and the link: `hours: Input should be ..
//! [type=..]`.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::fields::FieldReader;
use retold::parse::python::strip;

/// The fields of one object, and the invalid ones.
pub(super) struct Pydantic<'m> {
    fields: &'m Map<String, Value>,
    errors: Vec<String>,
}

impl<'m> Pydantic<'m> {
    pub(super) fn new(fields: &'m Map<String, Value>) -> Pydantic<'m> {
        Pydantic { fields, errors: Vec::new() }
    }

    /// The invalid fields, in order.
    pub(super) fn message(&self) -> String {
        self.errors.join("; ")
    }

    fn error<T>(&mut self, name: &str, message: &str, kind: &str) -> Option<T> {
        self.errors.push(format!("{name}: {message} [type={kind}]"));
        None
    }

    fn field(&mut self, name: &str) -> Option<&'m Value> {
        match self.fields.get(name) {
            Some(value) => Some(value),
            None => self.error(name, "Field required", "missing"),
        }
    }

    fn not_text<T>(&mut self, name: &str) -> Option<T> {
        self.error(name, "Input should be a valid string", "string_type")
    }
}

impl FieldReader for Pydantic<'_> {
    fn text(&mut self, name: &'static str, max: usize) -> Option<String> {
        let Some(text) = self.field(name)?.as_str() else {
            return self.not_text(name);
        };
        if text.chars().nth(max).is_some() {
            let message = format!("String should have at most {max} characters");
            return self.error(name, &message, "string_too_long");
        }
        Some(text.to_owned())
    }

    fn optional_text(&mut self, name: &'static str) -> Option<Option<String>> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => self.not_text(name),
        }
    }

    fn int(&mut self, name: &'static str, range: Option<RangeInclusive<i64>>) -> Option<i64> {
        const WHAT: &str = "Input should be a valid integer";
        let value = match self.field(name)? {
            Value::Bool(yes) => i64::from(*yes),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => whole,
                None => match whole_float(number.as_f64()?) {
                    Some(whole) => whole,
                    None => {
                        let message = format!("{WHAT}, got a number with a fractional part");
                        return self.error(name, &message, "int_from_float");
                    }
                },
            },
            Value::String(text) => match int_text(text) {
                Some(whole) => whole,
                None => {
                    let message = format!("{WHAT}, unable to parse string as an integer");
                    return self.error(name, &message, "int_parsing");
                }
            },
            _ => return self.error(name, WHAT, "int_type"),
        };
        let Some(range) = range else {
            return Some(value);
        };
        let (low, high) = range.into_inner();
        if value < low {
            let message = format!("Input should be greater than or equal to {low}");
            return self.error(name, &message, "greater_than_equal");
        }
        if value > high {
            let message = format!("Input should be less than or equal to {high}");
            return self.error(name, &message, "less_than_equal");
        }
        Some(value)
    }

    fn amount(&mut self, name: &'static str) -> Option<f64> {
        const WHAT: &str = "Input should be a valid number";
        let value = match self.field(name)? {
            Value::Bool(yes) => f64::from(u8::from(*yes)),
            Value::Number(number) => number.as_f64()?,
            Value::String(text) => match float_text(text) {
                Some(value) => value,
                None => {
                    let message = format!("{WHAT}, unable to parse string as a number");
                    return self.error(name, &message, "float_parsing");
                }
            },
            _ => return self.error(name, WHAT, "float_type"),
        };
        if !value.is_finite() {
            return self.error(name, "Input should be a finite number", "finite_number");
        }
        if value <= 0.0 {
            return self.error(name, "Input should be greater than 0", "greater_than");
        }
        Some(value)
    }

    fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let value = self.field(name)?;
        let found = words.iter().find(|(word, _)| value.as_str() == Some(*word));
        if let Some((_, choice)) = found {
            return Some(*choice);
        }
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let (last, first) = quoted.split_last()?;
        let message = format!("Input should be {} or {last}", first.join(", "));
        self.error(name, &message, "literal_error")
    }
}

/// A float without a fraction, as the nearest integer that fits.
fn whole_float(value: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "whole; saturates where it does not fit")]
    let whole = value as i64;
    (value.fract() == 0.0).then_some(whole)
}

/// An integer in a text: surrounding white space, a sign, single underscores between digits, and
/// zeros after a decimal point.
fn int_text(text: &str) -> Option<i64> {
    let text = strip(text);
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole,
        Some(_) => return None,
        None => text,
    };
    let digits = without_underscores(
        whole.strip_prefix('-').unwrap_or_else(|| whole.strip_prefix('+').unwrap_or(whole)),
    )?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse().unwrap_or(i64::MAX);
    Some(if whole.starts_with('-') { -number } else { number })
}

fn float_text(text: &str) -> Option<f64> {
    without_underscores(strip(text))?.parse().ok()
}

/// The text without underscores; `None` if one of them is not between two characters.
fn without_underscores(text: &str) -> Option<String> {
    let misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!misplaced).then(|| text.replace('_', ""))
}
