//! The members of an object.

use serde_json::{Map, Value};

use super::Repair;
use super::cursor::Cursor;

/// The contents of an object while it is being read.
#[derive(Default)]
pub(super) struct Members {
    pub(super) map: Map<String, Value>,
    /// Keys without values: the text may have been meant as a set.
    pub(super) loose: Vec<Value>,
    /// The most recent key.
    pub(super) last: Option<String>,
    /// How many leading items of its list are known to be objects. Without this, each new item
    /// would examine the whole list again, which takes quadratic time.
    objects: usize,
}

impl Members {
    /// The members of an object that continues.
    pub(super) fn new(map: Map<String, Value>) -> Self {
        Members { map, ..Members::default() }
    }

    /// Adds a member.
    pub(super) fn insert(&mut self, key: String, value: Value) {
        self.last = Some(key.clone());
        self.objects = 0;
        self.map.insert(key, value);
    }

    /// Adds a keyless value that follows a member, so that none of its members is lost. After an
    /// object, or after a list of such objects, it is the next item of a list whose brackets are
    /// missing; other members belong to this object.
    pub(super) fn keep(&mut self, value: Option<Value>) {
        let last = self.last.as_ref().and_then(|key| self.map.get_mut(key));
        if let (Some(Value::Array(last)), Some(Value::Object(_))) = (&last, &value) {
            let unknown = last.iter().skip(self.objects);
            self.objects += unknown.take_while(|item| item.is_object()).count();
        }
        match (last, value) {
            (_, None) => {}
            (Some(Value::Array(last)), Some(Value::Array(mut more))) => last.append(&mut more),
            (Some(Value::Array(last)), Some(Value::Object(more))) if last.len() == self.objects => {
                last.push(Value::Object(more));
            }
            (Some(last @ Value::Object(_)), Some(Value::Object(more))) => {
                let first = last.take();
                *last = Value::Array(vec![first, Value::Object(more)]);
            }
            (Some(_), Some(Value::Object(more))) => {
                if self.last.as_ref().is_some_and(|last| more.contains_key(last)) {
                    self.objects = 0;
                }
                self.map.extend(more);
            }
            (Some(_), Some(Value::Array(items))) => {
                let keys = items.into_iter().filter_map(|item| item.as_str().map(str::to_owned));
                keys.for_each(|key| {
                    self.map.entry(key).or_insert_with(|| Value::String(String::new()));
                });
            }
            (Some(_), Some(_)) => {}
            (None, Some(value)) => self.loose.push(value),
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
