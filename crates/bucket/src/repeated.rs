//! Events that the ledger repeats: the first of each run, and those that it has entries of. So a list of runs opens none of
//! them.

use std::sync::Arc;

use retold::event::StoredEvent;
use retold::event::chain::{ChainLink, LinkedEvent};
use retold::exchange::{LineOfEvent, LineReader, LineWriter};
use retold::id::{ContentHash, EventHash, RunId, Seq};
use retold::log::{Head, LogError};

use crate::segment::Segment;

/// The most bytes of an event that is repeated, with its content: whoever needs a larger one reads its segment.
const MOST_BYTES: usize = 1 << 16;

/// An event as the lines of a recording.
#[derive(Debug, Clone)]
pub(crate) struct RepeatedEvent {
    pub(crate) seq: Seq,
    /// The hash of the event before it, from which its own follows.
    pub(crate) follows: EventHash,
    /// The line of its content, under its hash; runs of the same settings share it.
    pub(crate) content: Option<(ContentHash, Arc<str>)>,
    pub(crate) line: Arc<str>,
}

impl RepeatedEvent {
    /// An event of a run, with the hash of the event before it; `None` if it asks something, or is too large.
    pub(crate) fn new(event: &StoredEvent, follows: EventHash) -> Option<Self> {
        if event.prompt.is_some() {
            return None;
        }
        let mut lines: Vec<Arc<str>> = Vec::new();
        let line_of_event = LineOfEvent {
            canonical: ChainLink::of_stored(event).canonical(),
            hash: event.hash,
            content: event.content.as_ref(),
            prompt: None,
        };
        let mut no_request = |_| Err(LogError::failure("", "no request"));
        let mut keep = |line: &str| {
            lines.push(line.into());
            Ok::<_, LogError>(())
        };
        LineWriter::default().write(line_of_event, &mut no_request, &mut keep).ok()?;
        let line = lines.pop()?;
        let content = event.content.as_ref().map(|content| content.hash()).zip(lines.pop());
        let bytes = line.len() + content.as_ref().map_or(0, |(_, line)| line.len());
        (bytes <= MOST_BYTES).then_some(RepeatedEvent { seq: event.seq, follows, content, line })
    }

    /// An event of a segment.
    pub(crate) fn of_segment(segment: &Segment, seq: Seq) -> Option<Self> {
        let at = segment.events.iter().position(|event| event.seq == seq)?;
        let before = at.checked_sub(1).and_then(|before| segment.events.get(before));
        let follows = before.map_or(segment.footer.follows.hash, |before| before.hash);
        RepeatedEvent::new(segment.events.get(at)?, follows)
    }

    /// The event, if its hash follows from the one before it.
    pub(crate) fn event(&self, run: RunId) -> Option<StoredEvent> {
        let after = Head { seq: Seq(self.seq.0.checked_sub(1)?), hash: self.follows };
        let mut reader = LineReader::new(run, after);
        if let Some((_, line)) = &self.content {
            reader.read(line).ok()?;
        }
        let event = reader.read(&self.line).ok()??;
        Some(LinkedEvent::to_stored(&event, run))
    }
}
