//! The members of an object.

use serde_json::{Map, Value};

use super::Repair;
use super::cursor::Cursor;

/// What an object is made of while it is read.
#[derive(Default)]
pub(super) struct Members {
    pub(super) map: Map<String, Value>,
    /// Keys without values: the text may have been meant as a set.
    pub(super) loose: Vec<Value>,
}

impl Members {
    /// An array behind the value of a key belongs to that value, if that is an array too.
    pub(super) fn absorb(&mut self, value: Option<Value>) {
        match (self.map.values_mut().next_back(), value) {
            (Some(Value::Array(last)), Some(Value::Array(mut more))) => last.append(&mut more),
            (None, Some(value)) => self.loose.push(value),
            _ => {}
        }
    }

    pub(super) fn into_value(self, cursor: &mut Cursor<'_>) -> Value {
        if self.map.is_empty() && !self.loose.is_empty() {
            cursor.note(Repair::MisplacedMember);
            return Value::Array(self.loose);
        }
        if !self.loose.is_empty() {
            cursor.note(Repair::Garbage);
        }
        Value::Object(self.map)
    }
}
