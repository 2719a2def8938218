//! Where a run was continued.

use crate::event::kind::RUN_RESUMED;
use crate::event::{Event, RunResumed};
use crate::id::{RunId, Seq};
use crate::log::{Index, LogError, Reader};

/// Events in one read.
const BATCH: usize = 512;

/// Where a run was continued, in order.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub fn resumptions(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<(Seq, RunResumed)>, LogError> {
    let (mut found, mut after) = (Vec::new(), Seq(0));
    if !Index::open(reader, run)?.census(reader)?.events.contains_key(RUN_RESUMED) {
        return Ok(found);
    }
    loop {
        let events = reader.events(run, after, BATCH)?;
        let Some(last) = events.last() else { return Ok(found) };
        after = last.seq;
        for stored in events.iter().filter(|stored| stored.kind == RUN_RESUMED) {
            if let Event::RunResumed(resumed) = stored.event().map_err(LogError::from)? {
                found.push((stored.seq, resumed));
            }
        }
    }
}
