//! The texts that are indexed, and how they are hashed.

use std::borrow::Cow;

use crate::lookup::LookupSet;

/// Texts of at least this many bytes are found by their first bytes, wherever they occur in another
/// text; shorter ones only as a whole.
pub(crate) const BEGINNING: usize = 32;

/// A hash that is the same on every machine and in every release (FNV-1a, folded to 32 bits).
/// Deliberate collisions make a look-up slow, not wrong.
pub(super) fn hash(bytes: &[u8]) -> u32 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix);
    (hash ^ (hash >> 32)) as u32
}

/// The key that a text is found by.
pub(super) fn key(text: &str) -> u32 {
    hash(text.as_bytes().get(..BEGINNING).unwrap_or(text.as_bytes()))
}

/// Texts to look for.
#[derive(Debug, Default)]
pub(crate) struct TextKeys(LookupSet<u32>);

impl TextKeys {
    /// Adds every text of at least [`BEGINNING`] bytes that may occur in this one.
    pub(crate) fn within(&mut self, text: &str) {
        for window in text.as_bytes().windows(BEGINNING) {
            self.0.insert(hash(window));
        }
    }

    pub(super) fn contains(&self, key: u32) -> bool {
        self.0.contains(&key)
    }
}

/// A text in canonical JSON.
pub(super) struct JsonText<'a> {
    /// The key of the outermost object that contains it, as it is spelt.
    pub(super) key: Option<&'a str>,
    /// Whether it is itself the value of that key.
    pub(super) is_own: bool,
    pub(super) text: Cow<'a, str>,
}

/// Every text in canonical JSON that is not a key. Parsing the JSON would take several times as
/// long, in the thread that all runs share.
pub(super) fn each_string<'a>(json: &'a str, mut each: impl FnMut(JsonText<'a>)) {
    let (mut rest, mut depth, mut key) = (json, 0_u32, None);
    while let Some(at) = rest.find(['"', '{', '[', '}', ']']) {
        let (before, from) = rest.split_at(at + 1);
        rest = from;
        match before.as_bytes().last() {
            Some(b'{' | b'[') => depth += 1,
            Some(b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {
                let Some(end) = end_of_string(from) else { return };
                let (raw, after) = (&from[..end], &from[end + 1..]);
                rest = after;
                match after.as_bytes().first() {
                    Some(b':') if depth == 1 => key = Some(raw),
                    Some(b':') => {}
                    _ => {
                        let is_own = depth == 1 && key.is_some();
                        each(JsonText { key, is_own, text: unescape(raw) });
                    }
                }
            }
        }
    }
}

/// The end of a string that begins before this text.
fn end_of_string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', bytes.get(from..)?)?;
        match bytes.get(at) {
            Some(b'"') => return Some(at),
            _ => from = at + 2,
        }
    }
}

fn unescape(raw: &str) -> Cow<'_, str> {
    if raw.contains('\\') {
        match serde_json::from_str(&format!("\"{raw}\"")) {
            Ok(text) => Cow::Owned(text),
            Err(_) => Cow::Borrowed(raw),
        }
    } else {
        Cow::Borrowed(raw)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::prompt::canonical;

    fn found(json: &str) -> Vec<(Option<String>, bool, String)> {
        let mut all = Vec::new();
        each_string(json, |f| {
            all.push((f.key.map(str::to_owned), f.is_own, f.text.into_owned()));
        });
        all
    }

    #[test]
    fn texts_are_found_with_their_key() {
        let value = json!({"a": "one", "b": {"c": ["t\"wo", 3, "{"]}, "d\n": "", "e": [["x:"]]});
        let key = |key: &str| Some(key.to_owned());
        assert_eq!(
            found(&canonical(&value).unwrap()),
            [
                (key("a"), true, "one".to_owned()),
                (key("b"), false, "t\"wo".to_owned()),
                (key("b"), false, "{".to_owned()),
                (key("d\\n"), true, String::new()),
                (key("e"), false, "x:".to_owned()),
            ]
        );
        assert_eq!(found("\"alone\""), [(None, false, "alone".to_owned())]);
        assert_eq!(found("{\"a\":\"broken\\"), []);
    }

    fn strings(value: &Value) -> Vec<String> {
        match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(items) => items.iter().flat_map(strings).collect(),
            Value::Object(map) => map.values().flat_map(strings).collect(),
            _ => Vec::new(),
        }
    }

    proptest! {
        #[test]
        fn texts_are_those_that_a_json_parser_finds(texts in proptest::collection::vec(any::<String>(), 0..6)) {
            let value = json!({"a": texts, "b": {"c": texts.first(), "": {"d": texts.last()}}, "e": texts.last()});
            let mut due = strings(&value);
            let mut ours: Vec<String> = found(&canonical(&value).unwrap()).into_iter().map(|f| f.2).collect();
            due.sort_unstable();
            ours.sort_unstable();
            prop_assert_eq!(ours, due);
        }
    }
}
