//! The hash chain: `hash = BLAKE3(domain ‖ previous hash ‖ canonical event bytes)`.
//!
//! The canonical bytes are RFC 8785 JSON of the event's columns, contents and prompt by their hash:
//!
//! ```json
//! {"body":{},"call":"solve/0","cause":1,"content":"..","kind":"..","prompt":"..","run":"..",
//!  "sample":0,"seq":2,"time":1735689600000,"version":1}
//! ```
//!
//! on one line, absent fields left out, a vector under `vector` instead of `content`. A recording
//! holds exactly these objects with the `hash` added, so anyone can check a chain with a JSON
//! library and BLAKE3.
//!
//! So a chain commits to events, and to contents and requests by their hashes, but not to how a store lays these out:
//! in which rows or segments they are, how often, and which messages requests share. A run has the same head in every
//! store.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use super::stored::{NewEvent, StoredEvent};
use crate::content::Content;
use crate::id::{CallPath, ContentHash, EventHash, PromptHash, RunId, Sample, Seq, Time};

/// Separates this use of BLAKE3 from every other. Changes only with a new format.
pub const DOMAIN: &[u8] = b"retold event v1\n";

/// The hash that precedes the first event of every run.
pub const GENESIS: EventHash = EventHash([0; 32]);

/// The end of a run's chain, or a position in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The last seq; 0 for a run without events.
    pub seq: Seq,
    /// Its hash.
    pub hash: EventHash,
}

impl Head {
    /// Before the first event.
    pub const START: Head = Head { seq: Seq(0), hash: GENESIS };
}

/// An event with its position in a run, and the hash that follows from both.
#[derive(Debug, Clone)]
pub struct LinkedEvent {
    event: NewEvent,
    after: Head,
    content: Option<(ContentHash, bool)>,
    head: Head,
}

impl LinkedEvent {
    /// The event of `run` that follows `after`.
    pub fn new(event: NewEvent, run: RunId, after: Head) -> Self {
        let content = event.content.as_ref().map(content_key);
        let seq = after.seq.next();
        let hash = ChainLink::of_new(&event, run, seq, content).hash_after(after.hash);
        LinkedEvent { event, after, content, head: Head { seq, hash } }
    }

    /// The event.
    pub fn event(&self) -> &NewEvent {
        &self.event
    }

    /// The event of `run` as a log returns it.
    pub fn to_stored(&self, run: RunId) -> StoredEvent {
        let Head { seq, hash } = self.head;
        let NewEvent { kind, version, time, call, sample, prompt, cause, content, body } =
            self.event.clone();
        let prompt = prompt.map(|prompt| prompt.hash());
        StoredEvent {
            run,
            seq,
            kind,
            version,
            time,
            call,
            sample,
            prompt,
            cause,
            content,
            body,
            hash,
        }
    }

    /// The event, without its link.
    pub fn into_event(self) -> NewEvent {
        self.event
    }

    /// The position that it follows.
    pub fn after(&self) -> Head {
        self.after
    }

    /// The hash of its content, and whether that is a vector.
    pub fn content(&self) -> Option<(ContentHash, bool)> {
        self.content
    }

    /// The end of the chain once it is stored.
    pub fn head(&self) -> Head {
        self.head
    }
}

/// The columns that the chain covers, borrowed from either kind of event.
#[derive(Debug, Clone, Copy)]
pub struct ChainLink<'a> {
    /// The run.
    pub run: RunId,
    /// The position in the run.
    pub seq: Seq,
    /// The kind.
    pub kind: &'a str,
    /// The version of the kind's body.
    pub version: u32,
    /// When.
    pub time: Time,
    /// Where in the experiment.
    pub call: Option<&'a CallPath>,
    /// The n-th answer.
    pub sample: Option<Sample>,
    /// The hash of the request.
    pub prompt: Option<PromptHash>,
    /// The event it follows from.
    pub cause: Option<Seq>,
    /// The hash of the content, and whether it is a vector.
    pub content: Option<(ContentHash, bool)>,
    /// The canonical body.
    pub body: &'a str,
}

impl<'a> ChainLink<'a> {
    /// The link of an event about to be stored.
    pub fn of_new(
        event: &'a NewEvent,
        run: RunId,
        seq: Seq,
        content: Option<(ContentHash, bool)>,
    ) -> Self {
        let NewEvent { kind, version, time, call, sample, prompt, cause, content: _, body } = event;
        ChainLink {
            run,
            seq,
            kind,
            version: *version,
            time: *time,
            call: call.as_ref(),
            sample: *sample,
            prompt: prompt.as_ref().map(|p| p.hash()),
            cause: *cause,
            content,
            body,
        }
    }

    /// The link of a stored event; its content is hashed again.
    pub fn of_stored(event: &'a StoredEvent) -> Self {
        let StoredEvent {
            run,
            seq,
            kind,
            version,
            time,
            call,
            sample,
            prompt,
            cause,
            content,
            body,
            hash: _,
        } = event;
        ChainLink {
            run: *run,
            seq: *seq,
            kind,
            version: *version,
            time: *time,
            call: call.as_ref(),
            sample: *sample,
            prompt: *prompt,
            cause: *cause,
            content: content.as_ref().map(content_key),
            body,
        }
    }

    /// The canonical bytes.
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(320 + self.body.len());
        out.push_str("{\"body\":");
        out.push_str(self.body);
        if let Some(call) = self.call {
            out.push_str(",\"call\":");
            quote(&mut out, call.as_str());
        }
        number(&mut out, "cause", self.cause.map(|c| c.0 as i64));
        let (text, vector) = match self.content {
            Some((hash, false)) => (Some(hash), None),
            Some((hash, true)) => (None, Some(hash)),
            None => (None, None),
        };
        push_hash(&mut out, "content", text.as_ref().map(|hash| &hash.0[..]));
        out.push_str(",\"kind\":");
        quote(&mut out, self.kind);
        push_hash(&mut out, "prompt", self.prompt.as_ref().map(|hash| &hash.0[..]));
        push_hash(&mut out, "run", Some(&self.run.0));
        number(&mut out, "sample", self.sample.map(i64::from));
        number(&mut out, "seq", Some(self.seq.0 as i64));
        number(&mut out, "time", Some(self.time.0));
        push_hash(&mut out, "vector", vector.as_ref().map(|hash| &hash.0[..]));
        number(&mut out, "version", Some(i64::from(self.version)));
        out.push('}');
        out
    }

    /// The hash that follows `previous`.
    pub fn hash_after(&self, previous: EventHash) -> EventHash {
        hash_after(previous, &self.canonical())
    }
}

/// The hash that follows `previous` for an event of these canonical bytes.
pub fn hash_after(previous: EventHash, canonical: &str) -> EventHash {
    // Hashed as one piece, which is faster than three; a replay does it for every event.
    let bytes = [DOMAIN, &previous.0, canonical.as_bytes()].concat();
    EventHash(*blake3::hash(&bytes).as_bytes())
}

/// How the chain names a content: its hash, and whether it is a vector.
pub fn content_key(content: &Content) -> (ContentHash, bool) {
    (content.hash(), matches!(content, Content::Vector(_)))
}

fn number(out: &mut String, key: &str, value: Option<i64>) {
    if let Some(value) = value {
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":");
        out.push_str(itoa::Buffer::new().format(value));
    }
}

fn push_hash(out: &mut String, key: &str, value: Option<&[u8]>) {
    if let Some(value) = value {
        // Twice as fast as formatting, and done four times per event.
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":\"");
        HEXLOWER.encode_append(value, out);
        out.push('"');
    }
}

/// RFC 8785 spells strings as `serde_json` does.
fn quote(out: &mut String, text: &str) {
    let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string())
    }
}
