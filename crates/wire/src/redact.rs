//! Personal data, taken out of requests and answers before anything is stored.
//!
//! The upstream gets the request as the program sent it, and the program the answer as it came. What is
//! stored has [`REDACTED`] in place of each match, and the same is done to a request before its recorded
//! answer is looked for: a program that repeats a redacted answer in its next question asks the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hyper::http::HeaderValue;
use regex::{Regex, bytes};
use serde_json::Value;

use crate::asked::{CALL, Incoming};
use crate::framing::{Framing, data, events};
use crate::rules::RuleError;

/// What stands in place of what was taken out.
pub(crate) const REDACTED: &str = "[redacted]";

/// Fields that are the same in many events of a stream, and are not continued from one to the next.
const NOT_CONTINUED: &[&str] = &[
    "id",
    "item_id",
    "response_id",
    "model",
    "object",
    "type",
    "role",
    "system_fingerprint",
    "status",
];

/// What is taken out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction {
    text: Vec<Regex>,
    /// The same patterns, for bodies that are not text.
    bytes: Vec<bytes::Regex>,
}

/// The lengths of a body's chunks, and when each arrived.
type Chunks = Vec<(usize, u64)>;

impl Redaction {
    /// What these patterns match is taken out.
    ///
    /// # Errors
    /// [`RuleError`].
    pub(crate) fn of(patterns: &[String]) -> Result<Self, RuleError> {
        let wrong = |pattern: &String| {
            let pattern = pattern.clone();
            move |source| RuleError::Redact { pattern, source: Box::new(source) }
        };
        let mut redaction = Redaction::default();
        for pattern in patterns {
            let text = Regex::new(pattern).map_err(wrong(pattern))?;
            if text.is_match("") {
                return Err(RuleError::RedactsNothing(pattern.clone()));
            }
            redaction.text.push(text);
            redaction.bytes.push(bytes::Regex::new(pattern).map_err(wrong(pattern))?);
        }
        Ok(redaction)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// A text without what is taken out. What was taken out before stays as it is.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for pattern in &self.text {
            if pattern.is_match(&out) {
                let between = out
                    .split(REDACTED)
                    .map(|between| pattern.replace_all(between, regex::NoExpand(REDACTED)));
                out = Cow::Owned(between.collect::<Vec<_>>().join(REDACTED));
            }
        }
        out
    }

    /// Takes it out of all texts of a JSON value; whether there was anything. Numbers stay.
    pub(crate) fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(other) => {
                    let differs = *text != other;
                    *text = other;
                    differs
                }
            },
            Value::Array(items) => items.iter_mut().fold(false, |any, item| self.value(item) | any),
            Value::Object(fields) => {
                let mut any = fields.values_mut().fold(false, |any, item| self.value(item) | any);
                if fields.keys().any(|name| matches!(self.text(name), Cow::Owned(_))) {
                    let before = std::mem::take(fields);
                    fields.extend(
                        before
                            .into_iter()
                            .map(|(name, value)| (self.text(&name).into_owned(), value)),
                    );
                    any = true;
                }
                any
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// A body that is one whole: JSON, a text, or bytes. The second value says whether anything was
    /// taken out.
    fn whole<'a>(&self, body: &'a [u8]) -> (Cow<'a, [u8]>, bool) {
        if let Ok(mut value) = serde_json::from_slice::<Value>(body) {
            return match self.value(&mut value) {
                true => (Cow::Owned(value.to_string().into_bytes()), true),
                false => (Cow::Borrowed(body), false),
            };
        }
        match std::str::from_utf8(body) {
            Ok(text) => match self.text(text) {
                Cow::Borrowed(_) => (Cow::Borrowed(body), false),
                Cow::Owned(other) => {
                    let differs = other != text;
                    (Cow::Owned(other.into_bytes()), differs)
                }
            },
            Err(_) => {
                let mut out = Cow::Borrowed(body);
                for pattern in &self.bytes {
                    if pattern.is_match(&out) {
                        out = Cow::Owned(without(&out, pattern));
                    }
                }
                let any = *out != *body;
                (out, any)
            }
        }
    }

    /// A request as it is stored: path, query, name of the call and body.
    pub(crate) fn request<'a>(&self, incoming: &'a Incoming) -> Cow<'a, Incoming> {
        if self.is_empty() {
            return Cow::Borrowed(incoming);
        }
        let mut stored = incoming.clone();
        stored.path = self.escaped(&incoming.path, '/');
        stored.query = incoming.query.as_deref().map(|query| self.escaped(query, '&'));
        if let Some(call) = incoming.headers.get(CALL).and_then(|call| call.to_str().ok())
            && let Ok(call) = HeaderValue::from_str(&self.text(call))
        {
            stored.headers.insert(CALL, call);
        }
        let content_type = incoming.headers.get("content-type").and_then(|it| it.to_str().ok());
        let is_form =
            content_type.is_some_and(|it| it.starts_with("application/x-www-form-urlencoded"));
        stored.body = match std::str::from_utf8(&incoming.body) {
            Ok(form) if is_form => self.escaped(form, '&').into(),
            _ => self.whole(&incoming.body).0.into_owned().into(),
        };
        Cow::Owned(stored)
    }

    /// Parts of a path, a query or a form, in which characters may be escaped.
    fn escaped(&self, text: &str, between: char) -> String {
        let part = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or(("", part));
            let plain = unescaped(value);
            match self.text(&plain) {
                Cow::Borrowed(_) => part.to_owned(),
                Cow::Owned(other) if name.is_empty() => other,
                Cow::Owned(other) => format!("{name}={other}"),
            }
        };
        text.split(between).map(part).collect::<Vec<_>>().join(&between.to_string())
    }

    /// An answer as it is stored, with the chunks that it then has, and whether anything was taken out.
    pub(crate) fn answer(
        &self,
        framing: Framing,
        body: Vec<u8>,
        chunks: Chunks,
    ) -> (Vec<u8>, Chunks, bool) {
        if self.is_empty() {
            return (body, chunks, false);
        }
        let pieces = match framing {
            Framing::Whole => match self.whole(&body) {
                (_, false) => return (body, chunks, false),
                (other, true) => vec![(body.len(), other.into_owned())],
            },
            Framing::Events | Framing::Lines => self.stream(framing, &body),
        };
        let stored: Vec<u8> = pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect();
        if stored == body {
            return (body, chunks, false);
        }
        let chunks = moved(&chunks, &pieces);
        (stored, chunks, true)
    }

    /// The events of a stream, each with the length that it had. A text that is continued from event to
    /// event is looked at as a whole: a name may be cut anywhere.
    fn stream(&self, framing: Framing, body: &[u8]) -> Vec<(usize, Vec<u8>)> {
        let events = events(framing, body);
        let mut read: Vec<(Option<Value>, bool)> = Vec::with_capacity(events.len());
        // By what continues: the pieces of each text, in order.
        let mut texts: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for (at, event) in events.iter().enumerate() {
            let value = serde_json::from_str::<Value>(&data(framing, event)).ok();
            if let Some(value) = &value {
                each_text(value, String::new(), String::new(), &mut |place, name| {
                    texts.entry(name).or_default().push((at, place));
                });
            }
            read.push((value, false));
        }
        for pieces in texts.values() {
            let text = |(at, place): &(usize, String)| {
                read[*at].0.as_ref().and_then(|value| value.pointer(place)?.as_str()).unwrap_or("")
            };
            let parts: Vec<&str> = pieces.iter().map(text).collect();
            let Some(redacted) = self.parts(&parts) else { continue };
            for ((at, place), by) in pieces.iter().zip(redacted) {
                let (Some(value), changed) = &mut read[*at] else { continue };
                if let Some(Value::String(text)) = value.pointer_mut(place)
                    && *text != by
                {
                    (*text, *changed) = (by, true);
                }
            }
        }
        let stored = |(event, (value, mut changed)): (&[u8], (Option<Value>, bool))| {
            let stored = match value {
                Some(mut value) => {
                    // What is not continued: ids, names of fields.
                    changed |= self.value(&mut value);
                    if changed { with_data(framing, event, &value) } else { event.to_vec() }
                }
                None => self.whole(event).0.into_owned(),
            };
            (event.len(), stored)
        };
        events.into_iter().zip(read).map(stored).collect()
    }

    /// Parts of one text without what is taken out of the whole; `None` if there is nothing. What begins
    /// in a part stands in that part.
    fn parts(&self, parts: &[&str]) -> Option<Vec<String>> {
        let mut parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let mut any = false;
        for pattern in &self.text {
            let whole = parts.concat();
            let known: Vec<_> =
                whole.match_indices(REDACTED).map(|(at, it)| at..at + it.len()).collect();
            let found: Vec<_> = pattern
                .find_iter(&whole)
                .map(|found| found.range())
                .filter(|found| {
                    !known.iter().any(|known| found.start < known.end && known.start < found.end)
                })
                .collect();
            if found.is_empty() {
                continue;
            }
            any = true;
            let mut at = 0;
            for part in &mut parts {
                let (begin, end) = (at, at + part.len());
                at = end;
                let (mut kept, mut from) = (String::new(), begin);
                for found in found.iter().filter(|found| found.start < end && begin < found.end) {
                    kept.push_str(&whole[from..found.start.max(from)]);
                    if found.start >= begin {
                        kept.push_str(REDACTED);
                    }
                    from = found.end.min(end);
                }
                kept.push_str(&whole[from..end]);
                *part = kept;
            }
        }
        any.then_some(parts)
    }
}

/// Bytes without what a pattern matches; what was taken out before stays as it is.
fn without(bytes: &[u8], pattern: &bytes::Regex) -> Vec<u8> {
    let by = || bytes::NoExpand(REDACTED.as_bytes());
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = memchr::memmem::find(rest, REDACTED.as_bytes()) {
        out.extend_from_slice(&pattern.replace_all(&rest[..at], by()));
        out.extend_from_slice(REDACTED.as_bytes());
        rest = &rest[at + REDACTED.len()..];
    }
    out.extend_from_slice(&pattern.replace_all(rest, by()));
    out
}

/// Passes on each text of an event: where it is, and the name of what it continues. Parts of an answer
/// are told apart by their `index`.
fn each_text(value: &Value, place: String, name: String, each: &mut impl FnMut(String, String)) {
    match value {
        Value::String(_) => each(place, name),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                // Each event has the parts that it continues, with their numbers, if there are several.
                let number = if item["index"].is_null() { at.to_string() } else { String::new() };
                each_text(item, format!("{place}/{at}"), format!("{name}/{number}"), each);
            }
        }
        Value::Object(fields) => {
            let index = ["index", "output_index", "content_index"]
                .iter()
                .filter_map(|name| Some(format!("#{}", fields.get(*name)?.as_u64()?)));
            let name = format!("{name}{}", index.collect::<String>());
            for (field, item) in fields {
                let escaped = field.replace('~', "~0").replace('/', "~1");
                let place = format!("{place}/{escaped}");
                if !NOT_CONTINUED.contains(&field.as_str()) {
                    each_text(item, place, format!("{name}/{field}"), each);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An event with other data. Its other lines stay.
fn with_data(framing: Framing, event: &[u8], value: &Value) -> Vec<u8> {
    let text = String::from_utf8_lossy(event);
    let trimmed = text.trim_end_matches(['\n', '\r']);
    let (lines, end) = text.split_at(trimmed.len());
    match framing {
        Framing::Lines | Framing::Whole => format!("{value}{end}").into_bytes(),
        Framing::Events => {
            let mut kept: Vec<String> = lines
                .split(['\n', '\r'])
                .filter(|line| !line.is_empty() && !line.starts_with("data:"))
                .map(str::to_owned)
                .collect();
            kept.push(format!("data: {value}"));
            format!("{}{end}", kept.join("\n")).into_bytes()
        }
    }
}

/// Where chunks end if pieces of the body were replaced: in a replaced piece at the same distance from
/// its beginning, or at its end.
fn moved(chunks: &Chunks, pieces: &[(usize, Vec<u8>)]) -> Chunks {
    let mut moved = Vec::with_capacity(chunks.len());
    let (mut end, mut last) = (0, 0);
    let (mut piece, mut old, mut new) = (0, 0, 0);
    for (length, time) in chunks {
        end += length;
        while let Some((was, is)) = pieces.get(piece)
            && old + was <= end
        {
            (old, new, piece) = (old + was, new + is.len(), piece + 1);
        }
        let within = pieces.get(piece).map_or(0, |(_, is)| (end - old).min(is.len()));
        moved.push((new + within - last, *time));
        last = new + within;
    }
    moved
}

/// A text with its percent escapes resolved, and `+` as a space.
fn unescaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |bytes: &std::str::Bytes<'_>| {
            let digits: Vec<u8> = bytes.clone().take(2).collect();
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16)
                .ok()
                .filter(|_| digits.len() == 2)
        };
        match byte {
            b'%' if let Some(escaped) = hex(&bytes) => {
                out.push(escaped);
                bytes.nth(1);
            }
            b'+' => out.push(b' '),
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redaction(patterns: &[&str]) -> Redaction {
        Redaction::of(&patterns.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn what_matches_is_taken_out_of_texts() {
        let redaction = redaction(&["Ada Lovelace", r"[a-z.]+@[a-z.]+", "[a-z]{6,}ed"]);
        assert_eq!(redaction.text("Ada Lovelace, ada@example.com"), "[redacted], [redacted]");
        assert_eq!(redaction.text("said [redacted] before"), "said [redacted] before");
        assert_eq!(redaction.text("nothing"), "nothing");
        let mut value = json!({"to": ["ada@example.com", 7], "ada@example.com": "x"});
        assert!(redaction.value(&mut value));
        assert_eq!(value, json!({"to": ["[redacted]", 7], "[redacted]": "x"}));
        let (text, any) = redaction.whole(b"{\"name\": \"Ada\\u0020Lovelace\"}");
        assert_eq!((&*text, any), (&b"{\"name\":\"[redacted]\"}"[..], true));
        let (bytes, any) = redaction.whole(b"\xff Ada Lovelace");
        assert_eq!((&*bytes, any), (&b"\xff [redacted]"[..], true));
        assert_eq!(redaction.escaped("a=1&to=ada%40example.com&b", '&'), "a=1&to=[redacted]&b");
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_refused() {
        let of = |pattern: &str| Redaction::of(&[pattern.to_owned()]).unwrap_err().to_string();
        assert!(of("x*").contains("also matches the empty text"));
        assert!(of("(").contains("not a regular expression"));
    }

    fn sse(events: &[Value]) -> Vec<u8> {
        events
            .iter()
            .map(|event| format!("event: e\ndata: {event}\n\n"))
            .collect::<String>()
            .into_bytes()
    }

    #[test]
    fn a_name_that_is_cut_by_a_stream_is_taken_out() {
        let delta = |index: u64, text: &str| json!({"id": "c", "choices": [{"index": index, "delta": {"content": text}}]});
        // Two answers at once, each with its own text.
        let body = sse(&[
            delta(0, "I am Ada Lo"),
            delta(1, "Ada Love"),
            delta(0, "ve"),
            delta(0, "lace!"),
            delta(1, "ly"),
        ]);
        let redaction = redaction(&["Ada Lovelace"]);
        let (stored, _, any) = redaction.answer(Framing::Events, body, Vec::new());
        assert!(any);
        let due = sse(&[
            delta(0, "I am [redacted]"),
            delta(1, "Ada Love"),
            delta(0, ""),
            delta(0, "!"),
            delta(1, "ly"),
        ]);
        assert_eq!(String::from_utf8(stored.clone()).unwrap(), String::from_utf8(due).unwrap());
        let (again, _, any) = redaction.answer(Framing::Events, stored.clone(), Vec::new());
        assert_eq!((again, any), (stored, false));
    }

    proptest! {
        /// However a name is cut: it is gone, everything else is there, and so are the chunks.
        #[test]
        fn cuts_hide_nothing(cuts in prop::collection::vec(1usize..9, 1..20), ends in prop::collection::vec(1usize..40, 0..30)) {
            let text = "Dear Ada Lovelace, call Ada Lovelace; J\u{f6}rg: 0171 555 0199.";
            let letters: Vec<char> = text.chars().collect();
            let mut pieces = Vec::new();
            let mut at = 0;
            for cut in cuts.iter().cycle() {
                if at >= letters.len() { break; }
                let end = (at + cut).min(letters.len());
                pieces.push(json!({"choices": [{"index": 0, "delta": {"content": letters[at..end].iter().collect::<String>()}}]}));
                at = end;
            }
            let body = sse(&pieces);
            let mut chunks: Chunks = Vec::new();
            let mut left = body.len();
            for end in ends {
                let length = end.min(left);
                if length > 0 { chunks.push((length, chunks.len() as u64)); }
                left -= length;
            }
            if left > 0 { chunks.push((left, 99)); }
            let (stored, moved, any) = redaction(&["Ada Lovelace", "[0-9 ]{10,}"]).answer(Framing::Events, body, chunks.clone());
            prop_assert!(any);
            prop_assert_eq!(moved.iter().map(|(length, _)| length).sum::<usize>(), stored.len());
            prop_assert_eq!(moved.len(), chunks.len());
            let said: String = events(Framing::Events, &stored).iter().map(|event| {
                let event: Value = serde_json::from_str(&data(Framing::Events, event)).unwrap();
                event["choices"][0]["delta"]["content"].as_str().unwrap().to_owned()
            }).collect();
            prop_assert_eq!(said, "Dear [redacted], call [redacted]; J\u{f6}rg:[redacted].");
        }
    }
}
