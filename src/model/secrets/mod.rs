//! Strikes out secrets that a server sends back, in whatever form it writes them.
//!
//! - [`Secrets`]: the texts that must never be shown or recorded, and how other texts are cleared of them.
//! - `forms`: a secret as itself, as base64 and as hex, and the pieces of it in a text.
//! - `unescaped_text`: a text with its escapes undone (JSON, percent signs, HTML, also nested), each
//!   byte with the position that it came from.
//! - `command`: a command without keys; `word_scan`: the values under names in a word of it; `published`: how keys begin.
//!
//! All code that stores or shows data sent by a server uses this, for keys in headers, in queries and in passwords.

mod command;
mod forms;
mod published;
mod unescaped_text;
mod word_scan;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use serde_json::Value;

pub use self::command::command_without_keys;
use self::forms::{Forms, SHORTEST};
use self::unescaped_text::{Pieces, UnescapedText};
use super::key_names::is_placeholder;
use super::{Content, Response};

/// The text in place of a secret.
pub const STRUCK: &str = "[key]";

/// The length of text that is searched in one go: the data about each byte takes more than the byte.
const STRETCH: usize = 256 << 10;

/// How much of it is searched again together with what follows: longer than a secret in any form.
const OVERLAP: usize = 16 << 10;

/// Query parameters with values that all users of a service share.
const NOT_SECRET: [&str; 2] = ["api-version", "version"];

/// The texts that must never be shown or recorded.
#[derive(Default, Clone)]
pub struct Secrets(Vec<Arc<Forms>>);

/// The secrets that were used last: most programs have one key for thousands of requests.
static USED: Mutex<Vec<Arc<Forms>>> = Mutex::new(Vec::new());

/// How many of them are kept.
const MOST_USED: usize = 16;

impl Secrets {
    /// Adds a secret. A placeholder is not one.
    pub fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST
            || is_placeholder(secret)
            || self.0.iter().any(|forms| forms.is_of(secret))
        {
            return;
        }
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        let forms = match used.iter().position(|forms| forms.is_of(secret)) {
            Some(at) => used.remove(at),
            None => Arc::new(Forms::new(secret)),
        };
        used.truncate(MOST_USED - 1);
        used.insert(0, forms.clone());
        self.0.push(forms);
    }

    /// Bytes with [`STRUCK`] in place of each secret in them: see [`places`](Self::places).
    pub fn struck_from<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let places = self.places(bytes);
        if places.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let (mut out, mut from) = (Vec::with_capacity(bytes.len()), 0);
        for place in places {
            out.extend_from_slice(&bytes[from..place.start]);
            out.extend_from_slice(STRUCK.as_bytes());
            from = place.end;
        }
        out.extend_from_slice(&bytes[from..]);
        Cow::Owned(out)
    }

    /// Where secrets stand in an answer or a request, in whatever form: sixteen characters of one in a row, or the whole of one that
    /// is shorter and does not look like a word. The ranges are in order and apart.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        if self.0.is_empty() {
            return places;
        }
        let mut start = 0;
        for chunk in bytes.utf8_chunks() {
            self.each_stretch(chunk.valid(), Pieces::InAnswers, start, &mut places);
            start += chunk.valid().len() + chunk.invalid().len();
        }
        merge(places)
    }

    /// Whether the texts of an answer contain a secret, in whatever form and however its stream was cut.
    pub fn are_in_response(&self, response: &Response) -> bool {
        !self.0.is_empty()
            && (self.are_in(response.content.text())
                || response.extra.iter().any(|(name, part)| self.are_in_field(name, part)))
    }

    fn are_in_field(&self, name: &str, field: &Value) -> bool {
        let is_spelt = name == "logprobs" && self.are_in(&spelt(field));
        is_spelt || self.are_in(name) || self.are_in_value(field)
    }

    fn are_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.are_in(text),
            Value::Array(items) => items.iter().any(|item| self.are_in_value(item)),
            Value::Object(fields) => {
                fields.iter().any(|(name, field)| self.are_in_field(name, field))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Adds the values of a query, where some gateways expect the key.
    pub(crate) fn add_query(&mut self, url: &Url) {
        for (name, value) in url.query_pairs() {
            if !NOT_SECRET.contains(&&*name) {
                self.add(&value);
            }
        }
    }

    /// A server's message without secrets, and without any piece of a secret of eight or more
    /// characters: plain, in any letter case, escaped, in base64 or hex. The text may be cut off
    /// within a secret.
    pub fn strike(&self, text: &str) -> String {
        self.struck(text, Pieces::InMessages).unwrap_or_else(|| text.to_owned())
    }

    /// Whether an answer contains a secret.
    pub(crate) fn are_in(&self, answer: &str) -> bool {
        self.struck(answer, Pieces::InAnswers).is_some()
    }

    /// The text without secrets, if it had any.
    fn struck(&self, text: &str, pieces: Pieces) -> Option<String> {
        let mut places = Vec::new();
        self.each_stretch(text, pieces, 0, &mut places);
        (!places.is_empty()).then(|| without(text, places))
    }

    /// Finds secrets in a text that begins at a place.
    fn each_stretch(
        &self,
        text: &str,
        pieces: Pieces,
        from: usize,
        places: &mut Vec<Range<usize>>,
    ) {
        let mut start = 0;
        loop {
            let end = boundary(text, start + STRETCH);
            self.find(&text[start..end], pieces, from + start, places);
            if end == text.len() {
                break;
            }
            start = boundary(text, end - OVERLAP);
        }
    }

    /// Finds secrets in a stretch of a text.
    fn find(&self, text: &str, pieces: Pieces, start: usize, places: &mut Vec<Range<usize>>) {
        let escaped = UnescapedText::has_escapes(text, pieces).then(|| UnescapedText::new(text));
        let escaped = escaped.as_ref().map_or(&[][..], |all| &all[..]);
        let mut add = |place: Range<usize>| places.push(start + place.start..start + place.end);
        for forms in &self.0 {
            forms.find(text.as_bytes(), pieces, &mut add);
            for unescaped in escaped {
                forms.find(unescaped.bytes(), pieces, &mut |place| add(unescaped.origin(place)));
            }
        }
    }

    /// Strikes secrets out of everything that is recorded of an answer. A service has no reason to
    /// send the key back, but if it does, the key must not get into the log. Because the answer was
    /// paid for, short matches are treated as coincidences and kept.
    pub(crate) fn strike_response(&self, response: &mut Response) {
        if self.0.is_empty() {
            return;
        }
        let Response {
            content,
            finish_reason,
            usage: _,
            model,
            id,
            system_fingerprint,
            service_tier,
            extra,
        } = response;
        if let Content::Text(text) = content
            && let Some(struck) = self.struck(text, Pieces::InAnswers)
        {
            *text = struck.into();
        }
        let texts = [finish_reason, model, id, system_fingerprint, service_tier];
        for text in texts.into_iter().flatten() {
            if let Some(struck) = self.struck(text, Pieces::InMessages) {
                *text = struck;
            }
        }
        // The provider also chooses the names.
        let mut parts = Value::Object(std::mem::take(extra));
        self.strike_tokens(&mut parts);
        self.strike_value(&mut parts);
        if let Value::Object(parts) = parts {
            *extra = parts;
        }
    }

    /// Strikes out log probabilities whose tokens together spell a secret: each token alone is too
    /// short to be recognised.
    fn strike_tokens(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.strike_tokens(item)),
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    if name == "logprobs" && self.are_in(&spelt(field)) {
                        *field = STRUCK.into();
                    }
                    self.strike_tokens(field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn strike_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(struck) = self.struck(text, Pieces::InAnswers) {
                    *text = struck;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.strike_value(item)),
            Value::Object(map) => {
                let names: Vec<String> = map.keys().cloned().collect();
                for name in names {
                    if let Some(struck) = self.struck(&name, Pieces::InAnswers)
                        && let Some(value) = map.remove(&name)
                    {
                        map.insert(struck, value);
                    }
                }
                map.values_mut().for_each(|item| self.strike_value(item));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The concatenated tokens of some log probabilities.
fn spelt(logprobs: &Value) -> String {
    let lists = ["content", "refusal"].map(|name| logprobs[name].as_array());
    let tokens = lists.into_iter().flatten().flatten();
    tokens.filter_map(|token| token["token"].as_str()).collect()
}

/// Ranges in order, those that adjoin as one.
fn merge(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for place in places {
        match joined.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => joined.push(place),
        }
    }
    joined
}

/// The text with some ranges replaced.
fn without(text: &str, places: Vec<Range<usize>>) -> String {
    let (mut kept, mut end) = (String::with_capacity(text.len()), 0);
    for Range { start, end: stop } in merge(places) {
        kept.push_str(&text[end..boundary(text, start).max(end)]);
        kept.push_str(STRUCK);
        end = (stop..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    }
    kept.push_str(&text[end..]);
    kept
}

/// The last character boundary at or before a position.
fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod tests;
