//! Members of a JSON value that is changed. `value["a"] = 1` and `value["a"].take()` panic unless the value is an
//! object, and what others send may be anything; these do nothing then. `tests/it/index_writes.rs` keeps the other form out.

use serde_json::{Map, Value};

/// The members of a JSON value of any kind.
pub trait Members {
    /// Sets a member of an object. `null` becomes an object that has it; anything else stays as it is.
    fn set(&mut self, name: &str, value: Value);

    /// Takes the value at a JSON pointer (RFC 6901), in place of which `null` stays; `null` if there is none.
    fn take_at(&mut self, pointer: &str) -> Value;
}

impl Members for Value {
    fn set(&mut self, name: &str, value: Value) {
        if self.is_null() {
            *self = Value::Object(Map::new());
        }
        if let Some(fields) = self.as_object_mut() {
            fields.insert(name.to_owned(), value);
        }
    }

    fn take_at(&mut self, pointer: &str) -> Value {
        self.pointer_mut(pointer).map(Value::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_object_has_members() {
        for (mut value, due) in [
            (json!({"a": 1, "b": 2}), json!({"a": 3, "b": 2})),
            (json!(null), json!({"a": 3})),
            (json!([{"a": 1}]), json!([{"a": 1}])),
            (json!("a"), json!("a")),
            (json!(1), json!(1)),
        ] {
            value.set("a", json!(3));
            assert_eq!(value, due);
        }
        let mut value = json!([{"a": [1]}]);
        assert_eq!((value.take_at("/0/a"), value.take_at("/0/b")), (json!([1]), json!(null)));
        assert_eq!((value.take_at("/1/a"), value.take_at("/a")), (json!(null), json!(null)));
        assert_eq!(value, json!([{"a": null}]));
    }
}
