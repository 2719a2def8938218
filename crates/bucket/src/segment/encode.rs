//! Writes a segment.

use retold::event::chain::{ChainLink, LinkedEvent};
use retold::exchange::{LineOfEvent, LineWriter};
use retold::id::RunId;
use retold::log::{Head, LogError};

use super::footer::{AnnouncedEntry, FORMAT, Footer};
use super::{END, SKIPPED};
use crate::writer::Writer;

/// How strongly the lines are compressed: the library's own default, which packs faster than a network sends.
const LEVEL: i32 = 3;

/// A segment about to be written.
pub(crate) struct NewSegment<'a> {
    pub(crate) run: RunId,
    pub(crate) number: u64,
    /// At least one; each follows the one before it.
    pub(crate) events: &'a [LinkedEvent],
    pub(crate) writer: &'a Writer,
    pub(crate) more: bool,
    pub(crate) entries: Vec<AnnouncedEntry>,
}

/// The bytes of a segment, and what its footer says.
///
/// # Errors
/// [`LogError::Failed`] if a request cannot be split into lines.
pub(crate) fn encode(segment: NewSegment<'_>) -> Result<(Vec<u8>, Footer), LogError> {
    let NewSegment { run, number, events, writer, more, entries } = segment;
    let (mut lines, mut text) = (LineWriter::default(), String::new());
    for event in events {
        let new = event.event();
        let canonical = ChainLink::of_new(new, run, event.head().seq, event.content()).canonical();
        let line_of_event = LineOfEvent {
            canonical,
            hash: event.head().hash,
            content: new.content.as_ref(),
            prompt: new.prompt.as_ref().map(|request| request.hash()),
        };
        let mut request = |_| new.prompt.clone().ok_or_else(|| LogError::failed("", "no request"));
        lines.write(line_of_event, &mut request, &mut |line| {
            text.push_str(line);
            text.push('\n');
            Ok::<_, LogError>(())
        })?;
    }
    let footer = Footer {
        format: FORMAT,
        run,
        segment: number,
        follows: events.first().map_or(Head::START, LinkedEvent::after),
        reaches: events.last().map_or(Head::START, LinkedEvent::head),
        bytes: text.len() as u64,
        writer: writer.clone(),
        more,
        entries,
    };
    let failed = |error: std::io::Error| LogError::failed("a segment", error);
    let mut bytes = zstd::bulk::compress(text.as_bytes(), LEVEL).map_err(failed)?;
    append_footer(&mut bytes, &footer).map_err(failed)?;
    Ok((bytes, footer))
}

/// Appends the frame with the footer.
pub(super) fn append_footer(bytes: &mut Vec<u8>, footer: &Footer) -> std::io::Result<()> {
    let footer = serde_json::to_vec(footer)?;
    let length = u32::try_from(footer.len() + super::TRAILER).map_err(std::io::Error::other)?;
    bytes.extend_from_slice(&SKIPPED);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&footer);
    let hash = *blake3::hash(bytes).as_bytes();
    bytes.extend_from_slice(&hash);
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&END);
    Ok(())
}
