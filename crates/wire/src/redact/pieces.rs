//! A value that is cut into several texts: the tokens of an answer, the parts of a message.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Redaction;

/// Fields with the probabilities of tokens: those that were chosen, and others.
pub(super) const OF_TOKENS: &[&str] = &["logprobs", "top_logprobs", "logprobsResult"];

impl Redaction {
    /// Parts of one text without the values that are redacted in the whole; `None` if there are none. The placeholder of a
    /// value is in the part where the value begins.
    pub(super) fn parts(&self, parts: &[&str], broken: bool) -> Option<Vec<String>> {
        let whole = parts.concat();
        let found = self.found(&whole, broken);
        if found.is_empty() {
            return None;
        }
        let mut at = 0;
        let part = |part: &&str| {
            let (begin, end) = (at, at + part.len());
            at = end;
            let (mut kept, mut from) = (String::new(), begin);
            for (place, by) in found.iter().filter(|(it, _)| it.start < end && begin < it.end) {
                kept.push_str(&whole[from..place.start.max(from)]);
                if place.start >= begin {
                    kept.push_str(by);
                }
                from = place.end.min(end);
            }
            kept.push_str(&whole[from..end]);
            kept
        };
        Some(parts.iter().map(part).collect())
    }

    /// Takes out values that are cut into several texts of one list: its items, or the texts in the same field of its items.
    /// Messages, which have a role, are texts of their own.
    pub(super) fn lists(&self, value: &mut Value, pieces: &mut Tokens) {
        match value {
            Value::Array(items) => {
                items.iter_mut().for_each(|item| self.lists(item, pieces));
                self.list(items, pieces);
            }
            Value::Object(fields) => {
                fields.values_mut().for_each(|item| self.lists(item, pieces));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn list(&self, items: &mut [Value], pieces: &mut Tokens) {
        if items.len() < 2 || items.iter().any(|item| !item["role"].is_null()) {
            return;
        }
        let mut texts: BTreeMap<String, Vec<(usize, String, String)>> = BTreeMap::new();
        for (at, item) in items.iter().enumerate() {
            each_text(item, "", &mut |place, text| {
                let of = place.split('/').filter(|name| name.parse::<usize>().is_err());
                let of = of.collect::<Vec<_>>().join("/");
                texts.entry(of).or_default().push((at, place.to_owned(), text.to_owned()));
            });
        }
        for texts in texts.values().filter(|texts| texts.len() > 1) {
            let parts: Vec<&str> = texts.iter().map(|(_, _, text)| text.as_str()).collect();
            let redacted = self.parts(&parts, false).unwrap_or_default();
            for ((at, place, before), by) in texts.iter().zip(redacted) {
                if *before != by
                    && let Some(text) = items.get_mut(*at).and_then(|item| item.pointer_mut(place))
                {
                    note(pieces, before, &by);
                    *text = Value::String(by);
                }
            }
        }
    }
}

/// The pieces of redacted values, and the texts in their place.
pub(super) type Tokens = BTreeMap<String, String>;

/// Notes the text in the place of a piece.
pub(super) fn note(pieces: &mut Tokens, before: &str, by: &str) {
    if !before.trim().is_empty() {
        pieces.insert(before.trim().to_owned(), by.to_owned());
    }
}

/// Passes on each text in a value, with its place.
fn each_text(value: &Value, place: &str, each: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(place, text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                each_text(item, &format!("{place}/{at}"), each);
            }
        }
        Value::Object(fields) => {
            for (field, item) in fields {
                each_text(item, &format!("{place}/{}", escape(field)), each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The name of a field, in a JSON pointer.
pub(super) fn escape(field: &str) -> String {
    field.replace('~', "~0").replace('/', "~1")
}

/// Among the probabilities of tokens, takes out the pieces of the values that were redacted in the answer: as a token, as
/// the name of one, and as its bytes.
pub(super) fn tokens(value: &mut Value, pieces: &Tokens, within: bool) {
    if pieces.is_empty() {
        return;
    }
    match value {
        Value::String(text) if within => {
            if let Some(by) = pieces.get(text.trim()) {
                *text = by.clone();
            }
        }
        Value::Array(items) => {
            let text = bytes_of(items).and_then(|bytes| String::from_utf8(bytes).ok());
            match text.and_then(|text| pieces.get(text.trim())).filter(|_| within) {
                Some(by) => *items = by.bytes().map(Value::from).collect(),
                None => items.iter_mut().for_each(|item| tokens(item, pieces, within)),
            }
        }
        Value::Object(fields) => {
            let within = within || fields.contains_key("token");
            for (name, item) in fields.iter_mut() {
                tokens(item, pieces, within || OF_TOKENS.contains(&name.as_str()));
            }
            if within && fields.keys().any(|name| pieces.contains_key(name.trim())) {
                rename_fields(fields, pieces);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Gives the fields that are named after pieces other names, each its own.
fn rename_fields(fields: &mut Map<String, Value>, pieces: &Tokens) {
    for (at, (name, value)) in std::mem::take(fields).into_iter().enumerate() {
        let name = match pieces.get(name.trim()) {
            Some(by) => format!("{by}#{at}"),
            None => name,
        };
        fields.insert(name, value);
    }
}

/// A list of bytes, as `logprobs` have them; `None` if it is none.
pub(super) fn bytes_of(items: &[Value]) -> Option<Vec<u8>> {
    let byte = |item: &Value| u8::try_from(item.as_u64()?).ok();
    (!items.is_empty()).then(|| items.iter().map(byte).collect()).flatten()
}
