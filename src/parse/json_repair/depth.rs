//! How deeply a repaired value is nested.

use serde_json::Value;

/// Empties containers inside more than `most` others; returns true if anything was lost. A value read with repairs can be
/// nested more deeply than the text: where brackets are missing, they are added. A value that is stored must be read again,
/// and serde_json reads 127 levels.
pub(super) fn cut(value: &mut Value, most: usize) -> bool {
    let inside = most.checked_sub(1);
    let mut lost = false;
    match (value, inside) {
        (Value::Array(items), None) => lost = !std::mem::take(items).is_empty(),
        (Value::Object(members), None) => lost = !std::mem::take(members).is_empty(),
        (Value::Array(items), Some(most)) => {
            items.iter_mut().for_each(|item| lost |= cut(item, most));
        }
        (Value::Object(members), Some(most)) => {
            members.values_mut().for_each(|member| lost |= cut(member, most));
        }
        _ => {}
    }
    lost
}
