//! Keys of JSON objects as models spell them.

use serde_json::{Map, Value};

/// The value of a key, and the key as it is written if that is in another way: in another case, or with other
/// signs between its words (`gun_accuracy`, `Gun Accuracy`). What is spelled as asked comes first.
pub fn lookup<'m>(
    object: &'m Map<String, Value>,
    key: &str,
) -> Option<(&'m Value, Option<&'m str>)> {
    if let Some(value) = object.get(key) {
        return Some((value, None));
    }
    let plain = |key: &str| key.replace(['_', ' ', '-'], "").to_lowercase();
    let wanted = plain(key);
    // What is asked for has few keys; an object with more is something else.
    let mut others = object.iter().take(64);
    let (written, value) = others.find(|(other, _)| plain(other) == wanted)?;
    Some((value, Some(written)))
}
