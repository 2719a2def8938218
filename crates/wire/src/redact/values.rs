//! Personal data in JSON: in its texts, in the names of its fields, and in lists of bytes. Numbers stay.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Redaction;
use super::pieces::{Tokens, bytes_of, tokens};

impl Redaction {
    /// Takes it out of a JSON value; whether there was anything.
    pub(crate) fn value(&self, value: &mut Value) -> bool {
        if self.is_empty() {
            return false;
        }
        let any = self.each(value);
        let mut pieces = Tokens::new();
        self.lists(value, &mut pieces);
        tokens(value, &pieces, false);
        any || !pieces.is_empty()
    }

    /// Takes it out of all texts, one by one.
    fn each(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(other) => {
                    *text = other;
                    true
                }
            },
            Value::Array(items) => match bytes_of(items).map(String::from_utf8) {
                Some(Ok(text)) => match self.text(&text) {
                    Cow::Borrowed(_) => false,
                    Cow::Owned(other) => {
                        *items = other.bytes().map(Value::from).collect();
                        true
                    }
                },
                _ => items.iter_mut().fold(false, |any, item| self.each(item) | any),
            },
            Value::Object(fields) => {
                let any = fields.values_mut().fold(false, |any, item| self.each(item) | any);
                self.names(fields) | any
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Takes it out of the names of fields. Two fields stay two, even if their names are writings of one.
    fn names(&self, fields: &mut Map<String, Value>) -> bool {
        if fields.keys().all(|name| matches!(self.text(name), Cow::Borrowed(_))) {
            return false;
        }
        let before = std::mem::take(fields);
        let (changed, kept): (Vec<_>, Vec<_>) =
            before.into_iter().partition(|(name, _)| matches!(self.text(name), Cow::Owned(_)));
        fields.extend(kept);
        for (name, value) in changed {
            let mut by = self.text(&name).into_owned();
            let mut apart = name;
            while fields.contains_key(&by) {
                apart.push('\0');
                let next = self.placeholder(apart.as_bytes()).unwrap_or_default();
                by = if next == by { by + "+" } else { next };
            }
            fields.insert(by, value);
        }
        true
    }
}
