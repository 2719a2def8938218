//! Texts and lists of tools that several requests have, which stand once in the file.

use std::collections::BTreeMap;

use super::named_values::NamedValues;
use crate::node::{LocatedValue, Value};

/// The shortest text that stands once, in bytes.
const SHORTEST: usize = 40;

/// Fields that stand once as a whole: tools, and the form of answers.
const WHOLE: &[&str] =
    &["functions", "output_config", "response_format", "text", "toolConfig", "tools"];

/// Texts of answers that repeat those of requests.
const ECHOED: &[&str] = &["instructions"];

/// Counts what several requests have, and takes it out of them.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    counts: BTreeMap<String, usize>,
    values: NamedValues,
}

impl Repeated {
    /// Counts the texts of a request, and its lists of tools.
    pub(crate) fn count(&mut self, value: &LocatedValue) {
        match &value.value {
            Value::Text(text) if text.len() >= SHORTEST => self.add(value),
            Value::List(items) => items.iter().for_each(|item| self.count(item)),
            Value::Map(fields) => {
                for (name, field) in fields {
                    if is_whole(name, field) {
                        self.add(field);
                    }
                    self.count(field);
                }
            }
            _ => {}
        }
    }

    /// Counts what an answer repeats of its request.
    pub(crate) fn count_echoes(&mut self, answer: &LocatedValue) {
        each_echo(&mut answer.clone(), &mut |_, echo| self.add(echo));
    }

    fn add(&mut self, value: &LocatedValue) {
        *self.counts.entry(value.text_of_json().unwrap_or_default()).or_default() += 1;
    }

    fn is_repeated(&self, value: &LocatedValue) -> bool {
        value.text_of_json().is_some_and(|json| {
            json.len() >= SHORTEST && self.counts.get(&json).is_some_and(|count| *count > 1)
        })
    }

    /// Takes what is repeated out of a request. The texts of a message are called after its role.
    pub(crate) fn take(&mut self, request: &mut LocatedValue) {
        self.take_below(request, "text", None);
    }

    fn take_below(&mut self, value: &mut LocatedValue, field: &str, role: Option<&str>) {
        if matches!(&value.value, Value::Text(text) if text.len() >= SHORTEST) {
            self.take_repeated(role.unwrap_or(field), value);
            return;
        }
        match &mut value.value {
            Value::List(items) => {
                items.iter_mut().for_each(|item| self.take_below(item, field, role));
            }
            Value::Map(fields) => {
                let own = fields.iter().find(|(name, _)| name == "role");
                let own = own.and_then(|(_, role)| role.text()).map(str::to_owned);
                let role = own.as_deref().or(role);
                for (name, field) in fields {
                    if !(is_whole(name, field) && self.take_repeated(name, field)) {
                        self.take_below(field, name, role);
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes out of an answer what its request has, too.
    pub(crate) fn take_echoes(&mut self, answer: &mut LocatedValue) {
        each_echo(answer, &mut |name, echo| {
            self.take_repeated(name, echo);
        });
    }

    /// Takes a value if it is repeated; true if it is.
    fn take_repeated(&mut self, name: &str, value: &mut LocatedValue) -> bool {
        let is_repeated = self.is_repeated(value);
        if is_repeated {
            *value = self.values.take(name, value, |n| format!("-{n}"));
        }
        is_repeated
    }

    /// What was taken.
    pub(crate) fn values(&self) -> &[(String, LocatedValue)] {
        self.values.values()
    }
}

/// Whether a field stands once as a whole, if it is repeated.
fn is_whole(name: &str, field: &LocatedValue) -> bool {
    WHOLE.contains(&name) && matches!(field.value, Value::List(_) | Value::Map(_))
}

/// Passes on the fields of an answer in which APIs repeat its request.
fn each_echo(value: &mut LocatedValue, take: &mut dyn FnMut(&str, &mut LocatedValue)) {
    match &mut value.value {
        Value::List(items) => items.iter_mut().for_each(|item| each_echo(item, take)),
        Value::Map(fields) => {
            for (name, field) in fields {
                match is_whole(name, field) || ECHOED.contains(&name.as_str()) {
                    true => take(name, field),
                    false => each_echo(field, take),
                }
            }
        }
        _ => {}
    }
}
