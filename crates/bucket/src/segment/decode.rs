//! Reads a segment, and checks all of it.

use std::collections::BTreeMap;
use std::io::Read;

use retold::event::StoredEvent;
use retold::event::chain::LinkedEvent;
use retold::exchange::LineReader;
use retold::id::{PromptHash, RunId, Time};
use retold::log::{LastWriter, SegmentFault};
use retold::prompt::Request;

use super::footer::{FORMAT, Footer};
use super::{END, SKIPPED, TRAILER};

/// The most bytes that the lines of a segment may have: this release writes a sixteenth of that.
const MOST_BYTES: u64 = 1 << 30;

/// The most bytes that are made room for because a footer says so, before they are there.
const ROOM_BYTES: u64 = 64 << 20;

/// A segment that was read and found to be as it was written.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) footer: Footer,
    pub(crate) events: Vec<StoredEvent>,
    /// What its events ask.
    pub(crate) requests: BTreeMap<PromptHash, Request>,
}

impl Segment {
    /// Who wrote it, and when its last event happened.
    pub(crate) fn last_writer(&self) -> LastWriter {
        let writer = &self.footer.writer;
        let at = self.events.last().map_or(Time(0), |event| event.time);
        let (host, pid) = (writer.host.clone(), writer.pid);
        LastWriter { host, pid, at, is_alive: writer.is_alive(at) }
    }
}

/// Reads the segment `number` of a run.
///
/// # Errors
/// [`SegmentFault`] if it is not as it was written, or not that segment.
pub(crate) fn decode(
    object: &str,
    (run, number): (RunId, u64),
    bytes: &[u8],
) -> Result<Segment, SegmentFault> {
    let changed =
        |why: &str| SegmentFault::Changed { object: object.to_owned(), why: why.to_owned() };
    let (lines, footer) = split(bytes).map_err(|why| changed(&why))?;
    let footer: Footer = serde_json::from_slice(footer).map_err(|e| changed(&e.to_string()))?;
    if footer.format != FORMAT {
        return Err(SegmentFault::NewerFormat { object: object.to_owned(), found: footer.format });
    }
    if (footer.run, footer.segment) != (run, number) {
        let (run, segment) = (footer.run, footer.segment);
        return Err(SegmentFault::Displaced { object: object.to_owned(), run, segment });
    }
    let text = unpacked(lines, footer.bytes).map_err(|why| changed(&why))?;
    let mut reader = LineReader::new(run, footer.follows);
    let mut requests = BTreeMap::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let event = reader.read(line).map_err(|problem| changed(&problem.to_string()))?;
        let Some(event) = event else { continue };
        let asked = event.event().prompt.iter();
        requests.extend(asked.map(|request| (request.hash(), request.clone())));
        events.push(LinkedEvent::stored(&event, run));
    }
    match reader.head() == footer.reaches && !events.is_empty() {
        true => Ok(Segment { footer, events, requests }),
        false => Err(changed("its events do not end where its footer says")),
    }
}

/// The compressed lines, and the footer.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let cut_off = || "it is cut off".to_owned();
    let (rest, trailer) = bytes
        .split_last_chunk::<TRAILER>()
        .filter(|(_, trailer)| trailer.ends_with(&END))
        .ok_or_else(cut_off)?;
    let (hash, lengths) = trailer.split_at(32);
    if blake3::hash(rest).as_bytes() != hash {
        return Err("its bytes do not have the hash at its end".to_owned());
    }
    let length = lengths.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length));
    let at = rest.len().checked_sub(length as usize).ok_or_else(cut_off)?;
    let (rest, footer) = rest.split_at(at);
    let (lines, frame) = rest.split_last_chunk::<8>().ok_or_else(cut_off)?;
    let skipped = u32::try_from(footer.len() + TRAILER).map_err(|_| cut_off())?;
    match frame.starts_with(&SKIPPED) && frame.ends_with(&skipped.to_le_bytes()) {
        true => Ok((lines, footer)),
        false => Err("its footer is not in a frame of its own".to_owned()),
    }
}

/// The lines, which have to be exactly as long as the footer says.
fn unpacked(lines: &[u8], bytes: u64) -> Result<String, String> {
    if bytes > MOST_BYTES {
        return Err(format!("its lines have {bytes} bytes, more than a segment may have"));
    }
    // One more shows that it ends there.
    let mut text = String::with_capacity(bytes.min(ROOM_BYTES) as usize + 1);
    let decoder = zstd::Decoder::new(lines).map_err(|error| error.to_string())?;
    let read = decoder.take(bytes + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    match text.len() as u64 == bytes {
        true => Ok(text),
        false => Err(format!("its lines do not have the {bytes} bytes that its footer says")),
    }
}
