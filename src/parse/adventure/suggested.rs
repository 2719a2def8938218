//! Suggested actions: JSON as the document asks for it, or lines of a list.

use serde_json::Value;

use super::model::{ActionKind, SuggestedAction};

/// The actions of a JSON array: objects with a text and a type, or texts.
pub(super) fn actions_from_value(
    value: &Value,
    warnings: &mut Vec<String>,
) -> Vec<SuggestedAction> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
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

/// The actions in the lines behind a marker (`- Run`, `2. Hide`), and where they end.
pub(super) fn actions_from_lines(text: &str, start: usize) -> (Vec<SuggestedAction>, usize) {
    let rest = text.get(start..).unwrap_or_default();
    let mut actions = Vec::new();
    let mut end = start;
    let mut start_of_line = start;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        let bare = line.trim();
        let entry = bare.trim_start_matches(|c: char| c.is_ascii_digit() || "-*•.)".contains(c));
        let is_entry = entry.len() < bare.len() && entry.starts_with(' ');
        // The marker's own line has nothing more on it.
        if !(is_entry || number == 0 && bare.is_empty()) {
            break;
        }
        actions.extend(plain(entry));
        start_of_line += line.len();
        end = start_of_line - (line.len() - line.trim_end_matches(['\n', '\r']).len());
    }
    (actions, end)
}

fn plain(text: &str) -> Option<SuggestedAction> {
    filled(text).map(|text| SuggestedAction { text, kind: ActionKind::default() })
}

pub(super) fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
