//! Suggested actions: JSON as the document asks for it, or lines of a list.

use serde_json::Value;

use super::items::{And, split};
use super::model::{ActionKind, SuggestedAction};

/// The actions of a JSON array: objects with a text and a type, or texts.
pub(super) fn actions_from_value(
    value: &Value,
    warnings: &mut Vec<String>,
) -> Vec<SuggestedAction> {
    // One action may stand without the array around it.
    let alone = std::slice::from_ref(value);
    let alone = if value.is_object() { alone } else { &[] };
    let items = value.as_array().map_or(alone, Vec::as_slice);
    items.iter().filter_map(|item| action(item, warnings)).collect()
}

fn action(item: &Value, warnings: &mut Vec<String>) -> Option<SuggestedAction> {
    if let Some(text) = item.as_str() {
        return plain(text);
    }
    let keys = ["text", "title", "name", "action", "description"];
    let Some(text) = keys.iter().find_map(|key| filled(item.get(*key)?.as_str()?)) else {
        warnings.push("a suggested action has no text: left out".to_owned());
        return None;
    };
    let written = item.get("type").and_then(Value::as_str).map(str::trim);
    let kind = match written.map(str::to_lowercase).as_deref() {
        Some("basic") => ActionKind::Basic,
        Some("combat") => ActionKind::Combat,
        Some("interaction") => ActionKind::Interaction,
        None => ActionKind::default(),
        Some(_) => {
            let written = written.unwrap_or_default();
            warnings.push(format!("{written:?} is no type of action: basic"));
            ActionKind::default()
        }
    };
    Some(SuggestedAction { text, kind })
}

/// The actions in the lines behind a marker, and where they end.
pub(super) fn actions_from_lines(text: &str) -> (Vec<SuggestedAction>, usize) {
    let (entries, end) = entries(text);
    (entries.into_iter().filter_map(plain).collect(), end)
}

/// The actions in a list without brackets, on one line.
pub(super) fn actions_from_text(line: &str) -> impl Iterator<Item = SuggestedAction> {
    split(line, And::Ends).into_iter().filter_map(|name| plain(&name))
}

/// The entries of a list (`- Run`, `2. Hide`) in the lines that follow, and where they end.
pub(super) fn entries(text: &str) -> (Vec<&str>, usize) {
    let mut found = Vec::new();
    let (mut end, mut at) = (0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim();
        let entry = bare.trim_start_matches(|c: char| c.is_ascii_digit() || "-*•.)".contains(c));
        let is_entry = entry.len() < bare.len() && entry.starts_with(' ');
        // The marker's own line has nothing more on it.
        if !(is_entry || number == 0 && bare.is_empty()) {
            break;
        }
        found.extend(Some(entry).filter(|_| is_entry));
        at += line.len();
        end = at - (line.len() - line.trim_end_matches(['\n', '\r']).len());
    }
    (found, end)
}

fn plain(text: &str) -> Option<SuggestedAction> {
    filled(text).map(|text| SuggestedAction { text, kind: ActionKind::default() })
}

pub(super) fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
