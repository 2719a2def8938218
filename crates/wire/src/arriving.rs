//! An answer that is arriving, and how much of it may be let through.

use retold::model::providers::try_read;

use crate::framing::{Framing, Splitter, data};
use crate::limits::MOST_CHUNKS;
use crate::wire_request::WireRequest;

/// How many blanks before an answer are taken for a sign of life.
const MOST_BLANKS: usize = 64 << 10;

/// An answer that is arriving.
pub(crate) struct Arriving {
    pub(crate) framing: Framing,
    pub(crate) splitter: Splitter,
    /// Whether it is let through before it is whole.
    pub(crate) lets_through: bool,
    /// Whether it is JSON.
    pub(crate) is_json: bool,
    pub(crate) body: Vec<u8>,
    pub(crate) chunks: Vec<(usize, u64)>,
    /// How much of it was let through.
    pub(crate) sent: usize,
    /// Where the last chunk begins.
    pub(crate) chunk: usize,
    /// Where the event begins that ends the stream.
    pub(crate) last: Option<usize>,
}

impl Arriving {
    pub(crate) fn new(framing: Framing, lets_through: bool) -> Self {
        let splitter = Splitter::new(framing);
        let (body, chunks) = (Vec::new(), Vec::new());
        let (is_json, last) = (false, None);
        Arriving { framing, splitter, lets_through, is_json, body, chunks, sent: 0, chunk: 0, last }
    }

    pub(crate) fn add(&mut self, chunk: &[u8], at: u64, asked: &WireRequest) {
        if chunk.is_empty() {
            return;
        }
        self.chunk = self.body.len();
        self.body.extend_from_slice(chunk);
        if self.chunks.len() < MOST_CHUNKS {
            self.chunks.push((chunk.len(), at));
        }
        while let Some(event) = self.splitter.next(&self.body) {
            let begin = event.start;
            let dialect = asked.dialect;
            let is_last = || dialect.is_last(&data(self.framing, &self.body[event]));
            // What cannot be read ends nothing.
            if self.last.is_none() && try_read(dialect.name(), is_last).unwrap_or(false) {
                self.last = Some(begin);
            }
        }
    }

    /// Up to where the body may be let through: not the event that ends it, nor one that is not
    /// complete, because it may be that event; and of a body without events, not its last chunk.
    pub(crate) fn free(&self) -> usize {
        match (self.framing, self.last) {
            _ if !self.lets_through => 0,
            (_, Some(last)) => last,
            // An object is of no use before it is whole, and can be replaced by an error until then. A list
            // may be a stream of its items. Blanks before it keep a connection alive.
            (Framing::Whole, None) if self.is_json => match self.body.trim_ascii_start().first() {
                None if self.body.len() <= MOST_BLANKS => self.body.len(),
                None => 0,
                Some(b'[') => self.chunk,
                Some(_) => 0,
            },
            (Framing::Whole, None) => self.chunk,
            (Framing::Events | Framing::Lines | Framing::Messages, None) => self.splitter.start(),
        }
    }
}

/// Whether a content type is JSON.
pub(crate) fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or("").trim();
    kind.eq_ignore_ascii_case("application/json")
}
