//! Fields as version 2 reads them: an unambiguous value is accepted, with a warning if it was not
//! written as requested; anything else is a reason for rejection.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::fields::{FieldReader, infinite};
use retold::parse::keys::lookup;

/// The fields of one object, the repairs, and the invalid fields.
pub(super) struct Forgiving<'m> {
    fields: &'m Map<String, Value>,
    pub(super) warnings: Vec<String>,
    pub(super) misfits: Vec<String>,
}

/// The contents of the prompt's examples: an agent that sends them has copied the example.
const PLACEHOLDERS: [&str; 6] = [
    "your message here",
    "your reply here",
    "your private message",
    "short title",
    "full description of what you're proposing",
    "your chosen name",
];

impl<'m> Forgiving<'m> {
    pub(super) fn new(fields: &'m Map<String, Value>) -> Forgiving<'m> {
        Forgiving { fields, warnings: Vec::new(), misfits: Vec::new() }
    }

    fn misfit<T>(&mut self, reason: String) -> Option<T> {
        self.misfits.push(reason);
        None
    }

    fn field(&mut self, name: &str) -> Option<&'m Value> {
        match self.value(name) {
            None | Some(Value::Null) => self.misfit(format!("{name} is missing")),
            Some(value) => Some(value),
        }
    }

    /// The value of a key, including one in another spelling.
    pub(super) fn value(&mut self, name: &str) -> Option<&'m Value> {
        let (value, written) = lookup(self.fields, name)?;
        if let Some(written) = written {
            self.warnings.push(format!("the key {name} was written as {}", quote(written)));
        }
        Some(value)
    }

    /// A number, which may be in a text: `"3"`, `"#42"`, `"Agent #42"`, `"3 hours"`.
    fn number(&mut self, name: &str) -> Option<f64> {
        match self.field(name)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => {
                if is_notation(text) {
                    return self.misfit(notation(name, text));
                }
                if let Some(number) = non_finite(text) {
                    return Some(number);
                }
                let Some(number) = only_number(text) else {
                    return self.misfit(format!("{name} is not a number: {}", quote(text)));
                };
                self.warnings.push(format!("{name} was written as the text {}", quote(text)));
                Some(number)
            }
            other => self.misfit(format!("{name} is not a number but {}", kind(other))),
        }
    }
}

impl FieldReader for Forgiving<'_> {
    fn text(&mut self, name: &'static str, max: usize) -> Option<String> {
        let value = self.field(name)?;
        let Some(text) = value.as_str() else {
            return self.misfit(format!("{name} is not text but {}", kind(value)));
        };
        let count = text.chars().count();
        if text.trim().is_empty() {
            return self.misfit(format!("{name} is empty"));
        }
        if PLACEHOLDERS.iter().any(|p| text.trim().eq_ignore_ascii_case(p)) {
            return self.misfit(format!("{name} is the prompt's example: {}", quote(text)));
        }
        if count > max {
            return self.misfit(format!("{name} has {count} characters, more than {max}"));
        }
        Some(text.to_owned())
    }

    fn optional_text(&mut self, name: &'static str) -> Option<Option<String>> {
        match self.value(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(other) => {
                // It does not affect the action, so it is not a reason to reject it.
                self.warnings.push(format!("{name} is not text but {}: left out", kind(other)));
                Some(None)
            }
        }
    }

    fn int(&mut self, name: &'static str, range: Option<RangeInclusive<i64>>) -> Option<i64> {
        let number = self.number(name)?;
        // Up to 2^53, every whole number is exact; ids and hours are far smaller.
        if number.fract() != 0.0 || number.abs() > 9e15 {
            return self.misfit(format!("{name} is not a whole number: {number}"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole and small, see above")]
        let whole = number as i64;
        match range {
            Some(range) if !range.contains(&whole) => {
                let (low, high) = range.into_inner();
                self.misfit(format!("{name} is {whole}, not from {low} to {high}"))
            }
            _ => Some(whole),
        }
    }

    fn amount(&mut self, name: &'static str) -> Option<f64> {
        let number = self.number(name)?;
        if number > 0.0 && number.is_finite() {
            return Some(number);
        }
        if number > 0.0 {
            self.warnings.push(infinite(name));
            return Some(f64::MAX);
        }
        self.misfit(format!("{name} is {number}, not more than 0"))
    }

    fn choice<T: Copy>(&mut self, name: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let value = self.field(name)?;
        let Some(text) = value.as_str() else {
            return self.misfit(format!("{name} is not one word but {}", kind(value)));
        };
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim()));
        match found {
            Some((word, choice)) => {
                if *word != text {
                    self.warnings.push(format!("{name} was written as {}", quote(text)));
                }
                Some(*choice)
            }
            None if is_notation(text) => self.misfit(notation(name, text)),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.misfit(format!("{name} is {}, not one of {}", quote(text), known.join(", ")))
            }
        }
    }
}

/// Whether a text is the prompt's notation for a choice (`yes|no`, `1-8`, `<id>`) rather than a
/// choice.
pub(super) fn is_notation(text: &str) -> bool {
    let range = text.split_once('-').is_some_and(|(low, high)| {
        let is_number = |t: &str| !t.is_empty() && t.trim().bytes().all(|b| b.is_ascii_digit());
        is_number(low) && is_number(high)
    });
    range || text.contains(['|', ',', '<', '>'])
}

pub(super) fn notation(name: &str, text: &str) -> String {
    format!("{name} is the prompt's notation or a list, not one choice: {}", quote(text))
}

/// A text for a message: quoted and shortened.
pub(super) fn quote(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { ".." } else { "" };
    format!("{:?}{dots}", short)
}

/// The type of a JSON value, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The only number in a short text.
fn only_number(text: &str) -> Option<f64> {
    let mut words = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')));
    let mut numbers = words.by_ref().filter(|word| word.bytes().any(|b| b.is_ascii_digit()));
    let number = numbers.next()?.trim_end_matches('.').parse().ok()?;
    (text.len() < 40 && numbers.next().is_none()).then_some(number)
}

/// `Infinity`, `NaN` and numbers that are too large, as Python and Pydantic read them.
fn non_finite(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (!number.is_finite()).then_some(number)
}
