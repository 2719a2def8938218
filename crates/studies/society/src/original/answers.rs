//! Reconstructs the raw answers of a log.

use serde_json::{Map, Value};

use super::files::LogRow;

/// The answer in a turn, assembled from the log's fields.
pub(super) fn answer(row: &LogRow) -> String {
    let mut object = Map::new();
    let mut put = |key: &str, value: &Value| {
        if !value.is_null() {
            object.insert(key.to_owned(), value.clone());
        }
    };
    put("thought", &row.thought);
    put("content", &row.content);
    if row.action_type == "speak" {
        put("action", &"forum_post".into());
    } else {
        put("action", &row.action_type);
        put("target", &row.target);
    }
    Value::Object(object).to_string()
}
