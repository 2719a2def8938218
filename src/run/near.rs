//! Reads single events that are near each other.

use std::collections::VecDeque;

use crate::event::StoredEvent;
use crate::id::{RunId, Seq};
use crate::log::{LogError, Reader};

/// How many events are read together.
const BLOCK: u64 = 128;

/// How many blocks are kept: more than any number of calls in flight.
const KEPT: usize = 16;

/// The most recently read blocks of events. When events are requested in the order of a run, each
/// is read once, and many at a time.
#[derive(Debug, Default)]
pub(super) struct Near {
    blocks: VecDeque<(u64, Vec<StoredEvent>)>,
    last: u64,
}

impl Near {
    /// The event with a given seq in a run.
    pub(super) fn event(
        &mut self,
        reader: &mut dyn Reader,
        run: RunId,
        seq: Seq,
    ) -> Result<Option<StoredEvent>, LogError> {
        let block = seq.0.saturating_sub(1) / BLOCK;
        let find = |events: &[StoredEvent]| {
            let at = events.binary_search_by_key(&seq, |event| event.seq).ok()?;
            events.get(at).cloned()
        };
        let kept = self.blocks.iter().find(|(kept, _)| *kept == block);
        if let Some(event) = kept.and_then(|(_, events)| find(events)) {
            return Ok(Some(event));
        }
        let is_near = kept.is_none() && block.abs_diff(self.last) <= 2;
        self.last = block;
        if is_near {
            // A read returns fewer large events at a time; those that it leaves out are read one by
            // one.
            let events = reader.events(run, Seq(block * BLOCK), BLOCK as usize)?;
            let event = find(&events);
            if self.blocks.len() >= KEPT {
                self.blocks.pop_front();
            }
            self.blocks.push_back((block, events));
            if event.is_some() {
                return Ok(event);
            }
        }
        let event = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
        Ok(event.filter(|event| event.seq == seq))
    }
}
