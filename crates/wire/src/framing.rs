//! Where one event of a stream ends and the next begins: server-sent events (WHATWG HTML, "Parsing
//! an event stream"), lines of JSON, and Amazon's messages.

use std::ops::Range;

use crate::event_stream;
use memchr::{memchr, memchr2};
use retold::model::IntegerMark;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// How the events of a body are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `text/event-stream`: events end with an empty line.
    Events,
    /// `application/x-ndjson` and its other names: one JSON value per line.
    Lines,
    /// `application/vnd.amazon.eventstream`: messages with their lengths.
    Messages,
    /// Anything else: the body is one whole.
    Whole,
}

impl Framing {
    /// The framing of a body with this content type.
    pub(crate) fn new(content_type: &str) -> Self {
        let kind = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => Framing::Events,
            "application/vnd.amazon.eventstream" => Framing::Messages,
            "application/x-ndjson"
            | "application/jsonl"
            | "application/json-lines"
            | "application/stream+json" => Framing::Lines,
            _ => Framing::Whole,
        }
    }

    /// What marks integers beyond 64 bits while a body is read, if it may have any.
    pub(crate) fn integer_mark(self, body: &[u8]) -> Option<IntegerMark> {
        match self {
            // They may be in base64.
            Framing::Messages => Some(IntegerMark::new(body)),
            _ => IntegerMark::of_longer(body),
        }
    }

    /// The framing of a whole body: servers label streams as JSON or plain text, and JSON as a stream. Its beginning tells, and
    /// its label counts where that tells nothing.
    pub(crate) fn of_body(content_type: &str, body: &[u8]) -> Self {
        if event_stream::length(body).is_some() {
            return Framing::Messages;
        }
        let text = without_mark(body).trim_ascii_start();
        let labelled = Framing::new(content_type);
        if EVENT_FIELDS.iter().any(|field| text.starts_with(field)) {
            return Framing::Events;
        }
        if !text.starts_with(b"{") {
            return labelled;
        }
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let is_whole = |line: &[u8]| serde_json::from_slice::<IgnoredAny>(line).is_ok();
        let first_is_whole = lines.next().is_some_and(is_whole);
        match lines.find(|line| !line.is_empty()) {
            Some(second) if first_is_whole && second.starts_with(b"{") => Framing::Lines,
            // A stream may have been closed after its first line, or in it.
            None if labelled == Framing::Lines => Framing::Lines,
            _ => Framing::Whole,
        }
    }
}

/// The beginnings of the lines of an event stream.
const EVENT_FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];

/// A body without a byte order mark.
pub(crate) fn without_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body)
}

/// Finds complete events in a body that is still growing. Each byte is looked at once.
#[derive(Debug)]
pub(crate) struct Splitter {
    framing: Framing,
    /// Where the event begins that is not complete yet.
    start: usize,
    /// Where its current line begins.
    line: usize,
    /// Up to where the body was searched.
    searched: usize,
}

impl Splitter {
    /// A splitter at the beginning of a body.
    pub(crate) fn new(framing: Framing) -> Self {
        Splitter { framing, start: 0, line: 0, searched: 0 }
    }

    /// Where the event begins that is not complete yet.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// The next complete event, if there is one in the body so far.
    pub(crate) fn next(&mut self, body: &[u8]) -> Option<Range<usize>> {
        match self.framing {
            Framing::Whole => None,
            Framing::Messages => {
                let end = self.start.checked_add(event_stream::length(&body[self.start..])?)?;
                (end <= body.len()).then(|| self.ends_at(end))
            }
            Framing::Lines => {
                let end = memchr(b'\n', &body[self.searched..]).map(|at| self.searched + at + 1);
                self.searched = end.unwrap_or(body.len());
                end.map(|end| self.ends_at(end))
            }
            Framing::Events => loop {
                let rest = &body[self.searched..];
                let Some(at) = memchr2(b'\n', b'\r', rest).map(|at| self.searched + at) else {
                    self.searched = body.len();
                    return None;
                };
                let after = match (body[at], body.get(at + 1)) {
                    (b'\r', Some(b'\n')) => at + 2,
                    // The other half of the line's end may be on its way.
                    (b'\r', None) => {
                        self.searched = at;
                        return None;
                    }
                    _ => at + 1,
                };
                let is_empty = at == self.line;
                (self.line, self.searched) = (after, after);
                if is_empty {
                    return Some(self.ends_at(after));
                }
            },
        }
    }

    fn ends_at(&mut self, end: usize) -> Range<usize> {
        let event = self.start..end;
        (self.start, self.line) = (end, end);
        event
    }
}

/// All events of a whole body; what follows the last end of an event counts as one more.
pub(crate) fn events(framing: Framing, body: &[u8]) -> Vec<&[u8]> {
    let mut splitter = Splitter::new(framing);
    let mut events: Vec<&[u8]> =
        std::iter::from_fn(|| splitter.next(body)).map(|at| &body[at]).collect();
    let rest = &body[splitter.start()..];
    if !rest.is_empty() {
        events.push(rest);
    }
    events
}

/// Whether an event has its end.
pub(crate) fn is_complete(framing: Framing, event: &[u8]) -> bool {
    match framing {
        Framing::Events => {
            [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"].iter().any(|end| event.ends_with(end))
        }
        Framing::Messages => event_stream::length(event) == Some(event.len()),
        Framing::Lines | Framing::Whole => event.ends_with(b"\n"),
    }
}

/// The data of an event, in every framing; empty for a comment. Bytes that are not UTF-8 are
/// replaced, because this is only a reading; the bytes themselves are kept.
pub(crate) fn data(framing: Framing, event: &[u8]) -> String {
    if framing == Framing::Messages {
        return event_stream::data(event);
    }
    let text = String::from_utf8_lossy(event);
    match framing {
        Framing::Events => {
            let field = |line: &'_ str, name: &str| {
                let value = line.strip_prefix(name)?.strip_prefix(':')?;
                Some(value.strip_prefix(' ').unwrap_or(value).to_owned())
            };
            let lines = || text.split(['\n', '\r']);
            let data: Vec<String> = lines().filter_map(|line| field(line, "data")).collect();
            let data = data.join("\n");
            let is_error =
                lines().any(|line| field(line, "event").is_some_and(|name| name == "error"));
            if is_error && !data.is_empty() { error_in(&data) } else { data }
        }
        Framing::Lines | Framing::Whole | Framing::Messages => text.trim().to_owned(),
    }
}

/// The data of an event that is called an error: SDKs go by the name, not by the data.
fn error_in(data: &str) -> String {
    match serde_json::from_str::<Value>(data) {
        Ok(Value::Object(fields)) if fields.contains_key("type") => data.to_owned(),
        Ok(Value::Object(mut fields)) => {
            fields.insert("type".to_owned(), "error".into());
            Value::Object(fields).to_string()
        }
        _ => json!({"type": "error", "error": {"message": data}}).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_event_ends_with_an_empty_line_of_any_kind() {
        let body = b"data: a\n\ndata: b\r\n\r\n: note\rdata: c\ndata:d\r\rdata: [DONE]";
        let all = events(Framing::Events, body);
        let read: Vec<String> = all.iter().map(|event| data(Framing::Events, event)).collect();
        assert_eq!(read, ["a", "b", "c\nd", "[DONE]"]);
        assert_eq!(all.concat(), body);
    }

    #[test]
    fn a_line_is_an_event_of_newline_json() {
        let all = events(Framing::Lines, b"{\"a\":1}\r\n{\"b\":2}\n{");
        let read: Vec<String> = all.iter().map(|event| data(Framing::Lines, event)).collect();
        assert_eq!(read, ["{\"a\":1}", "{\"b\":2}", "{"]);
    }

    proptest! {
        /// How a body is cut on its way changes neither its events nor their places.
        #[test]
        fn cuts_do_not_matter(
            body in "(data: [a-z\u{e4}\u{1F600}]{0,5}|: c|\r|\n|\r\n){0,40}",
            cuts in prop::collection::vec(0usize..200, 0..20),
            lines in any::<bool>(),
        ) {
            let framing = if lines { Framing::Lines } else { Framing::Events };
            let body = body.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= body.len()).collect();
            cuts.push(body.len());
            cuts.sort_unstable();
            let mut cut = Splitter::new(framing);
            let mut found = Vec::new();
            for end in cuts {
                found.extend(std::iter::from_fn(|| cut.next(&body[..end])));
            }
            let mut whole = Splitter::new(framing);
            let at_once: Vec<_> = std::iter::from_fn(|| whole.next(body)).collect();
            prop_assert_eq!(found, at_once);
            prop_assert_eq!(cut.start(), whole.start());
        }
    }
}
