//! Personal data, taken out of requests and answers before anything is stored.
//!
//! The upstream gets the request as the program sent it, and the program the answer as it came. What is
//! stored has a placeholder for each match: equal values have equal ones, and different values different
//! ones ([`RedactionKey`]). The same is done to a request before its recorded answer is looked for: a program
//! that repeats a redacted answer in its next question asks the same.
//!
//! - `key`: placeholders, and how a run keeps its patterns.
//! - `views`: the other writings in which a value is found.
//! - `values`: JSON; `pieces`: a value that is cut into several texts; `stream`: the events of a stream.

mod key;
mod pieces;
mod stream;
mod values;
mod views;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use hyper::http::{HeaderMap, HeaderValue};
use regex::Regex;
use serde_json::Value;

pub use key::{KnownKeys, RedactionKey};

use crate::asked::{CALL, COUNTED, Incoming};
use crate::decode::decoded;
use crate::framing::Framing;
use crate::rules::RuleError;
use stream::moved;
use views::{View, nfc, views, views_of, written_in};

/// What stands in place of what was taken out.
static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"\[redacted-[a-z2-7]{{{}}}\]", key::SHORT)).ok());

/// What is taken out; by default, nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction(Option<Arc<Patterns>>);

#[derive(Debug)]
struct Patterns {
    texts: Vec<Regex>,
    key: RedactionKey,
}

/// The lengths of a body's chunks, and when each arrived.
type Chunks = Vec<(usize, u64)>;

/// A part of a text, and what takes its place.
type Found = (Range<usize>, String);

impl Redaction {
    /// What these patterns match is taken out.
    ///
    /// # Errors
    /// [`RuleError`].
    pub(crate) fn of(patterns: &[String], key: &RedactionKey) -> Result<Self, RuleError> {
        let wrong = |pattern: &String| {
            let pattern = pattern.clone();
            move |source| RuleError::Redact { pattern, source: Box::new(source) }
        };
        let mut texts = Vec::new();
        for pattern in patterns {
            let text = Regex::new(&nfc(pattern)).map_err(wrong(pattern))?;
            if text.is_match("") {
                return Err(RuleError::RedactsNothing(pattern.clone()));
            }
            texts.push(text);
        }
        let patterns = Patterns { texts, key: key.clone() };
        Ok(Redaction((!patterns.texts.is_empty()).then(|| Arc::new(patterns))))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A text without what is taken out. What was taken out before stays as it is.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.found(text);
        match found.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(replaced(text, &found)),
        }
    }

    /// What is taken out of a text, in order.
    fn found(&self, text: &str) -> Vec<Found> {
        match self.0.is_none() {
            true => Vec::new(),
            false => self.found_in(views(text)),
        }
    }

    /// What is taken out of what these views are of, in order.
    fn found_in(&self, views: Vec<View>) -> Vec<Found> {
        let Some(patterns) = &self.0 else { return Vec::new() };
        let mut found: Vec<Found> = Vec::new();
        for view in views {
            let known = known(&view.text);
            for pattern in &patterns.texts {
                for between in between(&known, view.text.len()) {
                    for it in pattern.find_iter(&view.text[between.clone()]) {
                        let place =
                            view.place(&(between.start + it.start()..between.start + it.end()));
                        let by = patterns.key.placeholder(it.as_str().as_bytes());
                        add(&mut found, place, by);
                    }
                }
            }
            for written in written_in(&view.text) {
                if known.iter().all(|known| !meet(known, &written.part))
                    && let Cow::Owned(text) = self.text(&written.text)
                {
                    add(&mut found, view.place(&written.part), written.write(&text));
                }
            }
        }
        found.sort_by_key(|(place, _)| place.start);
        found
    }

    /// What is stored in place of a text that was taken out as a whole.
    fn placeholder(&self, value: &[u8]) -> Option<String> {
        self.0.as_ref().map(|patterns| patterns.key.placeholder(value))
    }

    /// A body that is one whole: JSON, a text, or bytes. The second value says whether anything was
    /// taken out.
    fn whole<'a>(&self, body: &'a [u8]) -> (Cow<'a, [u8]>, bool) {
        if let Ok(mut value) = serde_json::from_slice::<Value>(body) {
            // Gemini streams a list, whose items are what the events of others are.
            let continued = match &mut value {
                Value::Array(items) if items.iter().all(Value::is_object) => {
                    self.continued(items.iter_mut().collect())
                }
                _ => false,
            };
            return match self.value(&mut value) | continued {
                true => (Cow::Owned(value.to_string().into_bytes()), true),
                false => (Cow::Borrowed(body), false),
            };
        }
        if let Ok(text) = std::str::from_utf8(body)
            && !text.contains('\0')
        {
            return match self.text(text) {
                Cow::Borrowed(_) => (Cow::Borrowed(body), false),
                Cow::Owned(other) => (Cow::Owned(other.into_bytes()), true),
            };
        }
        let mut out = body.to_vec();
        let mut any = false;
        for unit in [u16::from_le_bytes, u16::from_be_bytes] {
            for from in [0, 1] {
                let found = self.found_in(views_of(View::of_utf16(&out, unit, from)));
                any |= !found.is_empty();
                let bytes = |by: &str| {
                    by.encode_utf16().flat_map(|it| unit(it.to_ne_bytes()).to_ne_bytes()).collect()
                };
                out = replaced_bytes(&out, &found, bytes);
            }
        }
        let found = self.found_in(views_of(View::of_bytes(&out)));
        any |= !found.is_empty();
        (Cow::Owned(replaced_bytes(&out, &found, |by| by.as_bytes().to_vec())), any)
    }

    /// A request as it is stored: upstream, path, query, headers and body.
    pub(crate) fn request<'a>(&self, incoming: &'a Incoming) -> Cow<'a, Incoming> {
        if self.is_empty() {
            return Cow::Borrowed(incoming);
        }
        let mut stored = incoming.clone();
        stored.upstream = self.text(&incoming.upstream).into_owned();
        stored.path = self.escaped(&incoming.path, '/');
        stored.query = incoming.query.as_deref().map(|query| self.escaped(query, '&'));
        for name in COUNTED.iter().chain([&CALL]) {
            if let Some(value) = incoming.headers.get(*name).and_then(|it| it.to_str().ok())
                && let Ok(value) = HeaderValue::from_str(&self.text(value))
            {
                stored.headers.insert(*name, value);
            }
        }
        let header = |name: &str| incoming.headers.get(name).and_then(|it| it.to_str().ok());
        let body = plain(&incoming.headers, incoming.body.clone());
        let is_form = header("content-type")
            .is_some_and(|it| it.starts_with("application/x-www-form-urlencoded"));
        stored.body = match (&body, body.as_deref().map(std::str::from_utf8)) {
            (Some(_), Some(Ok(form))) if is_form => self.escaped(form, '&').into(),
            (Some(body), _) => self.whole(body).0.into_owned().into(),
            // What is in it cannot be found.
            (None, _) => self.placeholder(&incoming.body).unwrap_or_default().into(),
        };
        Cow::Owned(stored)
    }

    /// Parts of a path, a query or a form, in which characters may be escaped.
    fn escaped(&self, text: &str, between: char) -> String {
        let side = |side: &str| match self.text(&unescaped(side)) {
            Cow::Borrowed(_) => side.to_owned(),
            Cow::Owned(other) => other,
        };
        let part = |part: &str| match part.split_once('=') {
            Some((name, value)) => format!("{}={}", side(name), side(value)),
            None => side(part),
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
        let pieces = match stream::framing(framing, &body) {
            Framing::Whole => match self.whole(&body) {
                (_, false) => return (body, chunks, false),
                (other, true) => vec![(body.len(), other.into_owned())],
            },
            framing @ (Framing::Events | Framing::Lines) => self.stream(framing, &body),
        };
        let stored: Vec<u8> = pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect();
        if stored == body {
            return (body, chunks, false);
        }
        let chunks = moved(&chunks, &pieces);
        (stored, chunks, true)
    }
}

/// A body without its content encodings; `None` if one of them is not known, or is broken.
fn plain(headers: &HeaderMap, body: bytes::Bytes) -> Option<bytes::Bytes> {
    let Some(encodings) = headers.get("content-encoding") else { return Some(body) };
    decoded(encodings.to_str().ok()?, body).ok()
}

/// What was taken out before.
fn known(text: &str) -> Vec<Range<usize>> {
    let found = PLACEHOLDER.iter().flat_map(|placeholder| placeholder.find_iter(text));
    found.map(|it| it.range()).collect()
}

/// The parts of a text of this length that are not known.
fn between(known: &[Range<usize>], length: usize) -> impl Iterator<Item = Range<usize>> {
    let begins = std::iter::once(0).chain(known.iter().map(|it| it.end));
    let ends = known.iter().map(|it| it.start).chain(std::iter::once(length));
    begins.zip(ends).map(|(begin, end)| begin..end)
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Adds what was found, unless a part of it was found before that it does not cover.
fn add(found: &mut Vec<Found>, place: Range<usize>, by: String) {
    let covers = |it: &Range<usize>| place.start <= it.start && it.end <= place.end && *it != place;
    if found.iter().all(|(it, _)| !meet(it, &place) || covers(it)) {
        found.retain(|(it, _)| !meet(it, &place));
        found.push((place, by));
    }
}

/// A text with what was found replaced.
fn replaced(text: &str, found: &[Found]) -> String {
    let bytes = replaced_bytes(text.as_bytes(), found, |by| by.as_bytes().to_vec());
    // Places begin and end with characters.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn replaced_bytes(bytes: &[u8], found: &[Found], by: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
    let (mut out, mut from) = (Vec::with_capacity(bytes.len()), 0);
    for (place, placeholder) in found {
        out.extend_from_slice(&bytes[from..place.start]);
        out.extend(by(placeholder));
        from = place.end;
    }
    out.extend_from_slice(&bytes[from..]);
    out
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
    View::of_bytes(&out).text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::framing::{data, events};

    fn redaction(patterns: &[&str]) -> Redaction {
        let patterns: Vec<_> = patterns.iter().map(|it| (*it).to_owned()).collect();
        Redaction::of(&patterns, &key()).unwrap()
    }

    fn key() -> RedactionKey {
        RedactionKey::new([7; 32])
    }

    /// What stands for a value.
    fn by(value: &str) -> String {
        key().placeholder(value.as_bytes())
    }

    #[test]
    fn what_matches_is_taken_out_of_texts() {
        let redaction = redaction(&["Ada Lovelace", r"[a-z.]+@[a-z.]+", "[a-z]{6,}ed"]);
        let (ada, mail) = (by("Ada Lovelace"), by("ada@example.com"));
        assert_eq!(redaction.text("Ada Lovelace, ada@example.com"), format!("{ada}, {mail}"));
        assert_eq!(redaction.text(&format!("said {ada} before")), format!("said {ada} before"));
        assert_eq!(redaction.text("nothing"), "nothing");
        let mut value = json!({"to": ["ada@example.com", 7], "ada@example.com": "x"});
        assert!(redaction.value(&mut value));
        assert_eq!(value, json!({"to": [mail, 7], mail.clone(): "x"}));
        let (text, any) = redaction.whole(b"{\"name\": \"Ada\\u0020Lovelace\"}");
        assert_eq!((&*text, any), (format!("{{\"name\":\"{ada}\"}}").as_bytes(), true));
        let (bytes, any) = redaction.whole(b"\xff Ada Lovelace");
        assert_eq!((&*bytes, any), (&[b"\xff ", ada.as_bytes()].concat()[..], true));
        let escaped = redaction.escaped("a=1&to=ada%40example.com&b", '&');
        assert_eq!(escaped, format!("a=1&to={mail}&b"));
    }

    #[test]
    fn fields_stay_apart_whatever_their_names_become() {
        let redaction = redaction(&["[A-Z][a-z]+", "Jos\u{e9}"]);
        let mut votes = json!({"Ada": 1, "Bob": 2, "c": 3});
        assert!(redaction.value(&mut votes));
        assert_eq!(votes, json!({by("Ada"): 1, by("Bob"): 2, "c": 3}));
        // Two writings of one name, and one that was taken out before.
        let mut votes = json!({"Jos\u{e9}": 1, "Jose\u{301}": 2, by("Jos\u{e9}"): 3});
        redaction.value(&mut votes);
        let values: Vec<_> = votes.as_object().unwrap().values().map(Value::to_string).collect();
        assert_eq!(values.len(), 3, "{votes}");
        assert_eq!(votes[by("Jos\u{e9}")], 3, "{votes}");
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        let redaction = redaction(&["Jos\u{e9} Zq"]);
        let due = by("Jos\u{e9} Zq");
        for written in [
            "Jos\u{e9} Zq",
            "Jose\u{301} Zq",
            r"Jos\u00e9 Zq",
            r"Jos\\u00e9 Zq",
            r"Jose\u0301\u0020Zq",
            "Jos%C3%A9%20Zq",
            "Jos%C3%A9+Zq",
            "Jos%25C3%25A9 Zq",
            "Jos&eacute;&nbsp;Zq",
            "Jos&#233; Zq",
            "Jos&#xE9; Zq",
            r"Jos\xe9 Zq",
        ] {
            assert_eq!(redaction.text(&format!("a {written}.")), format!("a {due}."), "{written}");
        }
        let text = "I am Jos\u{e9} Zq.";
        let redacted = format!("I am {due}.");
        for encoding in
            [data_encoding::BASE64, data_encoding::BASE64URL_NOPAD, data_encoding::HEXLOWER]
        {
            let (written, by) =
                (encoding.encode(text.as_bytes()), encoding.encode(redacted.as_bytes()));
            assert_eq!(redaction.text(&format!("data:x,{written} ")), format!("data:x,{by} "));
        }
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        assert_eq!(*redaction.whole(&utf16(text)).0, utf16(&redacted));
        assert_eq!(*redaction.whole(b"Jos\xe9 Zq!").0, *format!("{due}!").as_bytes());
        // Text that looks like something else stays as it is.
        let other = r"100 % of C:\new \u00 a+b &c; redacted-aaaaaaaaaaaaa 0123456789abcdef";
        assert_eq!(redaction.text(other), other);
    }

    #[test]
    fn the_pieces_of_a_name_are_found_in_lists_and_among_tokens() {
        let redaction = redaction(&["Zqada Xlovelace"]);
        let token = |text: &str| {
            json!({"token": text, "bytes": text.as_bytes(),
            "top_logprobs": [{"token": "no"}, {"token": text.trim()}]})
        };
        let mut value = json!({"logprobs": {"content": [token("Zqada"), token(" Xlovelace"), token("!")]},
            "messages": [{"role": "user", "content": [{"type": "text", "text": "I, Zqada "}, {"type": "text", "text": "Xlovelace"}]}]});
        assert!(redaction.value(&mut value));
        let shown = value.to_string();
        for left in ["Zqada", "Xlovelace", "90,113,97"] {
            assert!(!shown.contains(left), "{left}: {shown}");
        }
        assert_eq!(
            value["messages"][0]["content"][0]["text"],
            format!("I, {}", by("Zqada Xlovelace"))
        );
        assert_eq!(value["logprobs"]["content"][2], token("!"));
        let list = json!([{"text": "Zqada Xlo"}, {"text": "velace"}]).to_string();
        let (stored, _, any) = redaction.answer(Framing::Whole, list.into_bytes(), Vec::new());
        assert!(any && !String::from_utf8(stored).unwrap().contains("velace"));
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_refused() {
        let of =
            |pattern: &str| Redaction::of(&[pattern.to_owned()], &key()).unwrap_err().to_string();
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
            delta(0, &format!("I am {}", by("Ada Lovelace"))),
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
            let (ada, number) = (by("Ada Lovelace"), by(" 0171 555 0199"));
            prop_assert_eq!(said, format!("Dear {ada}, call {ada}; J\u{f6}rg:{number}."));
        }
    }
}
