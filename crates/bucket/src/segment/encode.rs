//! Writes a segment.

use retold::event::chain::{ChainLink, LinkedEvent};
use retold::exchange::{LineOfEvent, LineWriter};
use retold::id::RunId;
use retold::log::{Head, LogError};
use retold::prompt::Request;

use super::END;
use super::footer::{AnnouncedEntry, FORMAT, Footer};
use crate::packing::{SKIPPED, pack};
use crate::writer::Writer;

/// A segment about to be written.
pub(crate) struct NewSegment<'a> {
    pub(crate) run: RunId,
    /// At least one; each follows the one before it.
    pub(crate) events: &'a [LinkedEvent],
    pub(crate) writer: &'a Writer,
    pub(crate) more: bool,
    pub(crate) entries: Vec<AnnouncedEntry>,
}

/// The lines of a segment, while events are added.
#[derive(Default)]
pub(crate) struct SegmentLines {
    writer: LineWriter,
    text: String,
    held: usize,
}

impl SegmentLines {
    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// How many bytes whoever reads them holds in memory, in about: a request that continues another is short here.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held
    }

    /// Adds an event, with the lines that it needs and that were not added before.
    ///
    /// # Errors
    /// [`LogError::Failed`] if its request is missing, or cannot be split into lines.
    pub(crate) fn add(
        &mut self,
        event: LineOfEvent<'_>,
        request: Option<&Request>,
    ) -> Result<(), LogError> {
        let SegmentLines { writer, text, held } = self;
        *held += event.content.map_or(0, |content| content.bytes().len());
        *held += request.map_or(0, Request::footprint);
        let mut request = |_| request.cloned().ok_or_else(|| LogError::failure("", "no request"));
        writer.write(event, &mut request, &mut |line| {
            text.push_str(line);
            text.push('\n');
            Ok(())
        })
    }

    /// The segment: the compressed lines, and a footer, of which the number of bytes is filled in.
    pub(crate) fn pack(self, footer: Footer) -> Result<(Vec<u8>, Footer), LogError> {
        let footer = Footer { bytes: self.text.len() as u64, ..footer };
        let failed = |error: std::io::Error| LogError::failure("a segment", error);
        let mut bytes = pack(&self.text).map_err(failed)?;
        append_footer(&mut bytes, &footer).map_err(failed)?;
        Ok((bytes, footer))
    }
}

/// The bytes of a segment, and what its footer says.
///
/// # Errors
/// [`LogError::Failed`] if a request cannot be split into lines.
pub(crate) fn encode(segment: NewSegment<'_>) -> Result<(Vec<u8>, Footer), LogError> {
    let NewSegment { run, events, writer, more, entries } = segment;
    let mut lines = SegmentLines::default();
    for event in events {
        let new = event.event();
        let canonical = ChainLink::of_new(new, run, event.head().seq, event.content()).canonical();
        let line_of_event = LineOfEvent {
            canonical,
            hash: event.head().hash,
            content: new.content.as_ref(),
            prompt: new.prompt.as_ref().map(|request| request.hash()),
        };
        lines.add(line_of_event, new.prompt.as_ref())?;
    }
    lines.pack(Footer {
        format: FORMAT,
        run,
        follows: events.first().map_or(Head::START, LinkedEvent::after),
        reaches: events.last().map_or(Head::START, LinkedEvent::head),
        bytes: 0,
        writer: writer.clone(),
        more,
        entries,
    })
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
