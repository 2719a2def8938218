//! What a value is called in a table.

use serde_json::Value;

/// The name of a value: a text is its own name.
pub(super) fn name_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
