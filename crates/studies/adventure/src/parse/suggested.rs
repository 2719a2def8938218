//! Suggested actions: JSON as the document asks for it, or lines of a list, with types in
//! parentheses.

use serde_json::Value;

use super::items::{And, closing, name, split};
use super::model::{ActionKind, SuggestedAction};

/// The actions of a JSON array: objects with a text and a type, or texts.
pub(super) fn actions_from_value(
    value: &Value,
    warnings: &mut Vec<String>,
) -> Vec<SuggestedAction> {
    // A single action may lack the array around it.
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
    let Some(text) = keys.iter().find_map(|key| non_empty(item.get(*key)?.as_str()?)) else {
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
            let written = written.unwrap_or("");
            warnings.push(format!("{written:?} is no type of action: basic"));
            ActionKind::default()
        }
    };
    Some(SuggestedAction { text, kind })
}

/// The actions in the lines after a marker, and where they end.
pub(super) fn actions_from_lines(text: &str) -> (Vec<SuggestedAction>, usize) {
    let (entries, end) = entries(text);
    (entries.into_iter().filter_map(action_from_entry).collect(), end)
}

/// The separator between actions on one line, if it is not a comma.
pub(super) const BAR: &str = " | ";

/// The actions in a list without brackets, on one line. If it has bars, commas are part of the
/// actions.
pub(super) fn actions_from_text(line: &str) -> Vec<SuggestedAction> {
    if line.contains(BAR) {
        let bare = line.trim().trim_start_matches("| ").trim_end_matches('|');
        return bare.split(BAR).filter_map(action_from_entry).collect();
    }
    split(line, And::Ends).iter().filter_map(|name| action_from_entry(name)).collect()
}

/// The actions in a list in brackets that is not JSON, and its length: with types after the texts
/// (`["Draw" (combat)]`), or with bars as separators (`[Run | Hide]`).
pub(super) fn actions_in_quotes(text: &str) -> Option<(Vec<SuggestedAction>, usize)> {
    let close = text.starts_with('[').then(|| closing(text))??;
    let inner = text.get(1..close)?;
    let is_quoted = inner.contains('"');
    if inner.contains(BAR) && !is_quoted {
        return Some((actions_from_text(inner), close + 1));
    }
    let mut behind = inner.split('"').skip(1).map(str::trim_start);
    let has_type = |piece: &str| {
        let end = piece.find(')').filter(|_| piece.starts_with('('));
        end.and_then(|end| split_type(piece.get(..=end)?)).is_some()
    };
    behind.any(has_type).then(|| (actions_from_text(inner), close + 1))
}

/// An entry of a list, possibly followed by a type: `Draw (combat)`.
fn action_from_entry(entry: &str) -> Option<SuggestedAction> {
    let plain = entry.replace("**", "");
    let (words, kind) = split_type(plain.trim()).unwrap_or((&plain, ActionKind::default()));
    Some(SuggestedAction { text: name(words)?, kind })
}

/// The text before a type in parentheses or brackets, and the type.
fn split_type(entry: &str) -> Option<(&str, ActionKind)> {
    let (words, inner) = [('(', ')'), ('[', ']')]
        .into_iter()
        .find_map(|(open, close)| entry.strip_suffix(close)?.rsplit_once(open))?;
    let inner = inner.trim().to_lowercase();
    let kind = match inner.strip_prefix("type:").unwrap_or(&inner).trim() {
        "basic" => ActionKind::Basic,
        "combat" => ActionKind::Combat,
        "interaction" => ActionKind::Interaction,
        _ => return None,
    };
    Some((words, kind))
}

/// The entries of a list (`- Run`, `2. Hide`) in the following lines, and where they end. There may
/// be empty lines before and between them.
pub(super) fn entries(text: &str) -> (Vec<&str>, usize) {
    let mut found = Vec::new();
    let (mut end, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let bare = line.trim();
        match entry(bare) {
            Some((number, words)) => {
                found.extend(split_entries(number, words));
                end = at - (line.len() - line.trim_end_matches(['\n', '\r']).len());
            }
            None if bare.is_empty() => {}
            None => break,
        }
    }
    (found, end)
}

/// The number of an entry, if it has one, and the text after it or after a bullet. `12 dollars` is
/// not an entry.
fn entry(line: &str) -> Option<(Option<u32>, &str)> {
    let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = line.get(..line.len() - behind.len()).unwrap_or("");
    let rest = if number.is_empty() {
        line.strip_prefix(['-', '*', '•', '+'])?
    } else {
        behind.strip_prefix(['.', ')'])?
    };
    let is_apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    is_apart.then(|| (number.parse().ok(), rest.trim()))
}

/// The entries on one line: `1. Run 2. Hide`.
fn split_entries(number: Option<u32>, words: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), words);
    let mut next = number.and_then(|number| number.checked_add(1));
    while let Some(number) = next {
        let Some((words, behind)) = rest.split_once(&format!(" {number}. ")) else { break };
        found.push(words);
        rest = behind;
        next = number.checked_add(1);
    }
    found.push(rest);
    found
}

/// Whether a line begins with an entry of a list.
pub(super) fn starts_with_entry(line: &str) -> bool {
    entry(line).is_some()
}

fn plain(text: &str) -> Option<SuggestedAction> {
    non_empty(text).map(|text| SuggestedAction { text, kind: ActionKind::default() })
}

pub(super) fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
