//! Fields as the document's models read them: Pydantic 2 in its default, lax mode.
//!
//! The accepted values were compared with Pydantic 2.13 on generated objects (see the tests):
//! - whole numbers: also `true`, `3.0`, `"3"`, `" +0_3.00 "`; not `3.5`, `null` or lists;
//! - numbers: also `true` and `"1.5"`;
//! - text: only text, with its length counted in characters; words only in their exact spelling;
//! - other fields are ignored.
//!
//! Differences: an infinite amount becomes the largest number, because JSON cannot represent it.
//! Integers without a limit that are beyond 64 bits become the nearest that fits. The messages are
//! Pydantic's without the input's value and the link: `hours: Input should be .. [type=..]`.

use std::ops::RangeInclusive;

use super::fields::{FieldReader, infinite};
use super::python_json::{PythonObject, PythonValue};
use retold::parse::python::strip;

/// The fields of one object, and the invalid ones.
pub(super) struct Pydantic<'m> {
    fields: &'m PythonObject,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl<'m> Pydantic<'m> {
    pub(super) fn new(fields: &'m PythonObject) -> Pydantic<'m> {
        Pydantic { fields, errors: Vec::new(), warnings: Vec::new() }
    }

    /// The deviations from the document's models.
    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    /// The invalid fields, in order.
    pub(super) fn message(&self) -> String {
        self.errors.join("; ")
    }

    fn error<T>(&mut self, name: &str, message: &str, kind: &str) -> Option<T> {
        self.errors.push(format!("{name}: {message} [type={kind}]"));
        None
    }

    fn field(&mut self, name: &str) -> Option<&'m PythonValue> {
        match self.fields.get(name) {
            Some(value) => Some(value),
            None => self.error(name, "Field required", "missing"),
        }
    }

    fn not_text<T>(&mut self, name: &str) -> Option<T> {
        self.error(name, "Input should be a valid string", "string_type")
    }

    fn half_pair<T>(&mut self, name: &str) -> Option<T> {
        let message =
            "Input should be a valid string, unable to parse raw data as a unicode string";
        self.error(name, message, "string_unicode")
    }
}

impl FieldReader for Pydantic<'_> {
    fn text(&mut self, name: &'static str, max: usize) -> Option<String> {
        let text = match self.field(name)? {
            PythonValue::Text(text) => text,
            PythonValue::HalfPair(_) => return self.half_pair(name),
            _ => return self.not_text(name),
        };
        if text.chars().nth(max).is_some() {
            let message = format!("String should have at most {max} characters");
            return self.error(name, &message, "string_too_long");
        }
        Some(text.clone())
    }

    fn optional_text(&mut self, name: &'static str) -> Option<Option<String>> {
        match self.fields.get(name) {
            None | Some(PythonValue::None) => Some(None),
            // Without a limit to its length, Pydantic does not look into the text.
            Some(PythonValue::Text(text) | PythonValue::HalfPair(text)) => Some(Some(text.clone())),
            Some(_) => self.not_text(name),
        }
    }

    fn int(&mut self, name: &'static str, range: Option<RangeInclusive<i64>>) -> Option<i64> {
        const WHAT: &str = "Input should be a valid integer";
        let value = match self.field(name)? {
            PythonValue::Bool(yes) => i64::from(*yes),
            PythonValue::Int(digits) => nearest_int(digits),
            PythonValue::Float(number) if !number.is_finite() => {
                return self.error(name, "Input should be a finite number", "finite_number");
            }
            PythonValue::Float(number) if number.fract() != 0.0 => {
                let message = format!("{WHAT}, got a number with a fractional part");
                return self.error(name, &message, "int_from_float");
            }
            PythonValue::Float(number) => match whole_float(*number) {
                Some(whole) => whole,
                None => {
                    let message =
                        "Unable to parse input string as an integer, exceeded maximum size";
                    return self.error(name, message, "int_parsing_size");
                }
            },
            PythonValue::Text(text) => match int_text(text) {
                Some(whole) => whole,
                None => {
                    let message = format!("{WHAT}, unable to parse string as an integer");
                    return self.error(name, &message, "int_parsing");
                }
            },
            PythonValue::HalfPair(_) => return self.half_pair(name),
            PythonValue::None | PythonValue::List(_) => return self.error(name, WHAT, "int_type"),
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
            PythonValue::Bool(yes) => f64::from(u8::from(*yes)),
            // An integer that no double can hold is no number for Pydantic.
            PythonValue::Int(digits) => match digits.parse().ok().filter(|n: &f64| n.is_finite()) {
                Some(value) => value,
                None => return self.error(name, WHAT, "float_type"),
            },
            PythonValue::Float(number) => *number,
            PythonValue::Text(text) => match float_text(text) {
                Some(value) => value,
                None => {
                    let message = format!("{WHAT}, unable to parse string as a number");
                    return self.error(name, &message, "float_parsing");
                }
            },
            PythonValue::HalfPair(_) => return self.half_pair(name),
            PythonValue::None | PythonValue::List(_) => {
                return self.error(name, WHAT, "float_type");
            }
        };
        if value.is_nan() || value <= 0.0 {
            return self.error(name, "Input should be greater than 0", "greater_than");
        }
        if value.is_infinite() {
            self.warnings.push(infinite(name));
        }
        Some(value.min(f64::MAX))
    }

    fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let value = self.field(name)?;
        if matches!(value, PythonValue::HalfPair(_)) {
            return self.half_pair(name);
        }
        let is = |word: &str| matches!(value, PythonValue::Text(text) if text == word);
        if let Some((_, choice)) = words.iter().find(|(word, _)| is(word)) {
            return Some(*choice);
        }
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let (last, first) = quoted.split_last()?;
        let message = format!("Input should be {} or {last}", first.join(", "));
        self.error(name, &message, "literal_error")
    }
}

/// An integer, or the nearest that fits.
fn nearest_int(digits: &str) -> i64 {
    let nearest = if digits.starts_with('-') { i64::MIN } else { i64::MAX };
    digits.parse().unwrap_or(nearest)
}

/// A float without a fraction as an integer, if it has 64 bits.
fn whole_float(value: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and between the limits")]
    let whole = value as i64;
    // Both limits are exact as doubles and excluded, as in pydantic-core.
    (value.abs() < 9_223_372_036_854_775_808.0).then_some(whole)
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
