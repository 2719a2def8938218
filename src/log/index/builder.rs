//! Making a piece.

use std::collections::BTreeMap;

use serde_json::json;

use super::codec::put;
use super::strings::{BEGINNING, each_string, hash, key};
use super::{Section, place};
use crate::content::Content;
use crate::event::{NewEvent, StoredEvent, causes_and_fact, kind};
use crate::id::{CallPath, Seq};

/// What an index uses of an event.
#[derive(Debug, Clone, Copy)]
pub(in crate::log) struct IndexEntry<'a> {
    pub(in crate::log) kind: &'a str,
    pub(in crate::log) version: u32,
    pub(in crate::log) call: Option<&'a str>,
    pub(in crate::log) cause: Option<Seq>,
    /// Empty for a vector.
    pub(in crate::log) text: &'a str,
    pub(in crate::log) body: &'a str,
}

impl<'a> From<&'a NewEvent> for IndexEntry<'a> {
    fn from(event: &'a NewEvent) -> Self {
        IndexEntry {
            kind: &event.kind,
            version: event.version,
            call: event.call.as_ref().map(CallPath::as_str),
            cause: event.cause,
            text: event.content.as_ref().map_or("", Content::text),
            body: &event.body,
        }
    }
}

impl<'a> From<&'a StoredEvent> for IndexEntry<'a> {
    fn from(event: &'a StoredEvent) -> Self {
        IndexEntry {
            kind: &event.kind,
            version: event.version,
            call: event.call.as_ref().map(CallPath::as_str),
            cause: event.cause,
            text: event.content.as_ref().map_or("", Content::text),
            body: &event.body,
        }
    }
}

/// A piece of the index of a run: the contents of each section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexPiece {
    sections: BTreeMap<i64, Vec<u8>>,
}

impl IndexPiece {
    /// The contents of a section.
    pub fn section(&self, section: Section) -> &[u8] {
        self.sections.get(&section.number()).map_or(&[], Vec::as_slice)
    }
}

/// Makes a piece from its events, in order.
#[derive(Debug, Default)]
pub(in crate::log) struct Builder {
    events: BTreeMap<String, u64>,
    /// The kinds of questions in the order in which they first occurred, with the number of each.
    kinds: Vec<u64>,
    kind_numbers: BTreeMap<String, usize>,
    facts: Vec<u64>,
    /// Hash, number of the kind, position.
    calls: Vec<(u32, usize, u64)>,
    /// First and last cause, position.
    causes: Vec<(u64, u64, u64)>,
    texts: Vec<(u32, u64)>,
    /// The last call: the number of its kind, and the hashes of its parts. Many samples of one call
    /// follow each other.
    last: Option<(String, usize, Vec<u32>)>,
}

impl Builder {
    /// Adds the next event.
    pub(in crate::log) fn add(&mut self, seq: Seq, entry: IndexEntry<'_>) {
        let (_, at) = place(seq);
        let IndexEntry { kind: name, version, call, cause, text, body } = entry;
        self.count(name, version);
        if let Some(call) = call {
            self.call(call, at);
        }
        if let Some(cause) = cause {
            self.causes.push((cause.0, cause.0, at));
        }
        if version != kind::VERSION {
            return;
        }
        match name {
            kind::RESPONSE_RECEIVED | kind::ANSWER_REUSED => {
                let text = text.trim();
                if text.len() >= BEGINNING {
                    self.texts.push((key(text), at));
                }
            }
            // A short body contains no text that is long enough.
            kind::DECISION_MADE if body.len() > BEGINNING => each_string(body, |found| {
                if found.key == Some("value") && found.text.len() >= BEGINNING {
                    self.texts.push((key(&found.text), at));
                }
            }),
            kind::OCCURRED => {
                self.facts.push(at);
                let Some((causes, fact)) = causes_and_fact(body) else { return };
                self.causes.extend(causes.into_iter().map(|(first, last)| (first, last, at)));
                each_string(fact, |found| {
                    if found.is_own || found.text.len() >= BEGINNING {
                        self.texts.push((key(&found.text), at));
                    }
                });
            }
            _ => {}
        }
    }

    fn count(&mut self, name: &str, version: u32) {
        match self.events.get_mut(name) {
            Some(count) if version == kind::VERSION => *count += 1,
            _ => *self.events.entry(kind_name(name, version)).or_default() += 1,
        }
    }

    fn call(&mut self, call: &str, at: u64) {
        if self.last.as_ref().is_none_or(|(last, ..)| last != call) {
            let (kind, parts) = kind_and_parts(call);
            let next = self.kinds.len();
            let number = *self.kind_numbers.entry(kind).or_insert(next);
            if number == next {
                self.kinds.push(0);
            }
            self.last = Some((call.to_owned(), number, parts));
        }
        if let Some((_, number, parts)) = &self.last {
            self.kinds[*number] += 1;
            self.calls.extend(parts.iter().map(|part| (*part, *number, at)));
        }
    }

    /// The piece for the events that were added.
    pub(in crate::log) fn finish(self) -> IndexPiece {
        let Builder {
            events, kinds, kind_numbers, facts, mut calls, mut causes, mut texts, ..
        } = self;
        // Kinds are numbered by name, so that the piece does not depend on the order in which they
        // occurred.
        let mut sorted = vec![0; kinds.len()];
        for (place, number) in kind_numbers.values().enumerate() {
            sorted[*number] = place as u64;
        }
        let counts: BTreeMap<&str, u64> =
            kind_numbers.iter().map(|(kind, number)| (&**kind, kinds[*number])).collect();
        let census = json!({"calls": counts, "events": events}).to_string().into_bytes();
        calls.sort_unstable_by_key(|(hash, number, at)| (*hash, sorted[*number], *at));
        causes.sort_unstable();
        texts.sort_unstable();
        texts.dedup();
        let facts = rising(facts.into_iter().map(|at| (at, [])));
        let calls = calls.into_iter();
        let calls = rising(calls.map(|(hash, number, at)| (u64::from(hash), [sorted[number], at])));
        let causes = causes.into_iter();
        let causes = rising(causes.map(|(first, last, at)| (first, [last - first, at])));
        let texts = rising(texts.into_iter().map(|(hash, at)| (u64::from(hash), [at])));
        let all = [census, facts, calls, causes, texts];
        IndexPiece { sections: Section::ALL.map(Section::number).into_iter().zip(all).collect() }
    }
}

/// Rows of numbers that are sorted by the first, which is written as the difference from the
/// previous row's.
fn rising<const N: usize>(rows: impl Iterator<Item = (u64, [u64; N])>) -> Vec<u8> {
    let (mut out, mut before) = (Vec::new(), 0);
    for (first, others) in rows {
        put(&mut out, first - before);
        before = first;
        others.into_iter().for_each(|number| put(&mut out, number));
    }
    out
}

/// A kind of event as it is named in the census.
pub(super) fn kind_name(name: &str, version: u32) -> String {
    match version {
        kind::VERSION => name.to_owned(),
        _ => format!("{name}@{version}"),
    }
}

/// Whether a part of a call is one of many that differ by number: `p_0007`, `2`.
pub(super) fn is_numbered(part: &str) -> bool {
    part.bytes().any(|b| b.is_ascii_digit())
}

/// The kind of a call (the call without its numbered parts), and the hashes it is found by.
pub(super) fn kind_and_parts(call: &str) -> (String, Vec<u32>) {
    let (mut kind, mut parts) = (String::new(), Vec::new());
    for part in call.split('/') {
        if is_numbered(part) {
            parts.push(hash(part.as_bytes()));
        } else {
            if !kind.is_empty() {
                kind.push('/');
            }
            kind.push_str(part);
        }
    }
    if parts.is_empty() {
        parts.push(hash(b""));
    }
    parts.sort_unstable();
    parts.dedup();
    (kind, parts)
}
