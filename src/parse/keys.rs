//! Keys of JSON objects in the spellings that models use.

use serde_json::{Map, Value};

/// The value of a key, and the key as written if its spelling differs: in letter case or in the
/// separators between its words (`gun_accuracy`, `Gun Accuracy`). An exact match has priority.
pub fn lookup<'m>(
    object: &'m Map<String, Value>,
    key: &str,
) -> Option<(&'m Value, Option<&'m str>)> {
    if let Some(value) = object.get(key) {
        return Some((value, None));
    }
    let plain = |key: &str| key.replace(['_', ' ', '-'], "").to_lowercase();
    let wanted = plain(key);
    // The expected objects have few keys; an object with more is something else.
    let mut others = object.iter().take(64);
    let (written, value) = others.find(|(other, _)| plain(other) == wanted)?;
    Some((value, Some(written)))
}
