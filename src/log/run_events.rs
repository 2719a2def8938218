//! The events of a run, one after the other.

use super::backend::Reader;
use super::error::LogError;
use crate::event::StoredEvent;
use crate::id::{RunId, Seq};

/// How many events are read at once.
const BATCH: usize = 1024;

/// Reads the events of a run in order, in batches. The reader is given to each step, so that it can
/// be used for other things in between.
pub struct RunEvents {
    run: RunId,
    after: Seq,
    batch: std::vec::IntoIter<StoredEvent>,
}

impl RunEvents {
    /// All events of a run.
    pub fn new(run: RunId) -> Self {
        RunEvents::after(run, Seq(0))
    }

    /// The events of a run after a seq.
    pub fn after(run: RunId, after: Seq) -> Self {
        RunEvents { run, after, batch: Vec::new().into_iter() }
    }

    /// The next event; `None` at the end of the run. Events that were added since the end was
    /// reached are found by the next call.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read or is damaged.
    pub fn next(&mut self, reader: &mut dyn Reader) -> Result<Option<StoredEvent>, LogError> {
        if self.batch.len() == 0 {
            self.batch = reader.events(self.run, self.after, BATCH)?.into_iter();
        }
        let next = self.batch.next();
        if let Some(event) = &next {
            self.after = event.seq;
        }
        Ok(next)
    }
}

/// The event of a run at a seq, if there is one.
pub(crate) fn event_at(
    reader: &mut dyn Reader,
    run: RunId,
    seq: Seq,
) -> Result<Option<StoredEvent>, LogError> {
    let found = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
    Ok(found.filter(|found| found.seq == seq))
}
