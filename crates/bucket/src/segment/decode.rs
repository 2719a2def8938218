//! Reads a segment, and checks all of it.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use retold::event::StoredEvent;
use retold::event::chain::LinkedEvent;
use retold::exchange::LineReader;
use retold::id::{PromptHash, RunId, Seq, Time};
use retold::jsonl::JsonlReader;
use retold::log::{LastWriter, SegmentFault};
use retold::prompt::Request;

use super::footer::{FORMAT, Footer};
use super::{END, TRAILER};
use crate::packing::{SKIPPED, UnpackBudget};

/// The most bytes that the lines of a segment may have, and that its events may take in memory. What this release writes takes
/// an eighth of that, or is one event; the longest answer and the longest request fit.
pub(crate) const MOST_BYTES: u64 = 128 << 20;

/// Within which bounds a segment is unpacked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unpacking<'a> {
    /// That of the log.
    pub(crate) budget: &'a UnpackBudget,
    /// The most bytes of this one: up to [`MOST_BYTES`].
    pub(crate) most: u64,
}

/// A segment that was read and found to be as it was written.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) footer: Footer,
    pub(crate) events: Vec<StoredEvent>,
    /// What its events ask.
    pub(crate) requests: BTreeMap<PromptHash, Request>,
    /// How many bytes it takes in memory, in about.
    pub(crate) held: u64,
}

impl Segment {
    /// Who wrote it, and when its last event happened.
    pub(crate) fn last_writer(&self) -> LastWriter {
        let writer = &self.footer.writer;
        let at = self.events.last().map_or(Time(0), |event| event.time);
        let (host, pid) = (writer.host.clone(), writer.pid);
        LastWriter { host, pid, at, is_alive: writer.is_alive() }
    }
}

/// Reads the segment of a run that begins with an event.
///
/// # Errors
/// [`SegmentFault`] if it is not as it was written, or not that segment.
pub(crate) fn decode(
    object: &str,
    key: (RunId, Seq),
    bytes: &[u8],
    Unpacking { budget, most }: Unpacking<'_>,
) -> Result<Segment, SegmentFault> {
    let changed = |why: String| SegmentFault::Changed { object: object.to_owned(), why };
    let (lines, footer) = split(bytes).map_err(|torn| changed(torn.to_string()))?;
    let footer = read_footer(object, key, footer)?;
    let room = budget.room(bytes.len());
    if footer.bytes > most {
        let why = format!("its lines have {} bytes, more than a segment may have", footer.bytes);
        return Err(changed(why));
    }
    budget.spend(footer.bytes, room).map_err(|error| changed(error.to_string()))?;
    let (run, _) = key;
    let mut reader = LineReader::new(run, footer.follows);
    let (mut requests, mut events) = (BTreeMap::new(), Vec::new());
    let (mut found, mut held) = (0, 0);
    for line in unpack(lines, footer.bytes).map_err(|error| changed(error.to_string()))? {
        let (_, line) = line.map_err(|error| changed(error.problem.to_string()))?;
        found += line.len() as u64 + 1;
        let event = reader.read(&line).map_err(|problem| changed(problem.to_string()))?;
        let Some(event) = event else { continue };
        if let Some(request) = &event.event().prompt
            && !requests.contains_key(&request.hash())
        {
            held += request.footprint() as u64;
            requests.insert(request.hash(), request.clone());
        }
        let stored = LinkedEvent::to_stored(&event, run);
        let content = stored.content.as_ref().map_or(0, |content| content.bytes().len());
        held += (content + stored.body.len() + size_of::<StoredEvent>()) as u64;
        if held > most {
            return Err(changed(format!("what it asks and answers takes more than {most} bytes")));
        }
        events.push(stored);
    }
    if found != footer.bytes {
        let why = format!("its lines do not have the {} bytes that its footer says", footer.bytes);
        return Err(changed(why));
    }
    match reader.head() == footer.reaches && !events.is_empty() {
        true => Ok(Segment { footer, events, requests, held }),
        false => Err(changed("its events do not end where its footer says".to_owned())),
    }
}

fn read_footer(
    object: &str,
    (run, first): (RunId, Seq),
    footer: &[u8],
) -> Result<Footer, SegmentFault> {
    let object = || object.to_owned();
    let footer: Footer = serde_json::from_slice(footer)
        .map_err(|error| SegmentFault::Changed { object: object(), why: error.to_string() })?;
    if footer.format != FORMAT {
        return Err(SegmentFault::NewerFormat { object: object(), found: footer.format });
    }
    if (footer.run, footer.first()) != (run, first) {
        let (run, first) = (footer.run, footer.first());
        return Err(SegmentFault::Displaced { object: object(), run, first });
    }
    Ok(footer)
}

/// Why an object has no footer that can be read.
#[derive(Debug, thiserror::Error)]
enum TornObject {
    #[error("it is cut off")]
    CutOff,
    #[error("its bytes do not have the hash at its end")]
    Hash,
    #[error("its footer is not in a frame of its own")]
    Frame,
}

/// The compressed lines, and the footer.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), TornObject> {
    let cut_off = || TornObject::CutOff;
    let (rest, trailer) = bytes
        .split_last_chunk::<TRAILER>()
        .filter(|(_, trailer)| trailer.ends_with(&END))
        .ok_or_else(cut_off)?;
    let (hash, lengths) = trailer.split_at(32);
    if blake3::hash(rest).as_bytes() != hash {
        return Err(TornObject::Hash);
    }
    let length = lengths.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length));
    let at = rest.len().checked_sub(length as usize).ok_or_else(cut_off)?;
    let (rest, footer) = rest.split_at(at);
    let (lines, frame) = rest.split_last_chunk::<8>().ok_or_else(cut_off)?;
    let skipped = u32::try_from(footer.len() + TRAILER).map_err(|_| cut_off())?;
    match frame.starts_with(&SKIPPED) && frame.ends_with(&skipped.to_le_bytes()) {
        true => Ok((lines, footer)),
        false => Err(TornObject::Frame),
    }
}

/// The lines, of which no more are read than the footer says; one byte more shows that there are more.
fn unpack(lines: &[u8], bytes: u64) -> std::io::Result<JsonlReader> {
    let decoder = zstd::Decoder::with_buffer(Cursor::new(lines.to_vec()))?;
    Ok(JsonlReader::from_reader("a segment", decoder.take(bytes + 1)))
}
