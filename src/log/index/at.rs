//! Reading scattered events.

use crate::event::StoredEvent;
use crate::id::{RunId, Seq};
use crate::log::backend::Reader;
use crate::log::error::LogError;

/// How many events are read together where many are wanted: reading a single one takes as long as
/// about ten consecutive ones.
const TOGETHER: usize = 256;

/// Passes on the events of a run at the given seqs, which must be sorted. Missing ones are left
/// out.
///
/// # Errors
/// [`LogError`] if one cannot be read, or any error of `each`.
pub fn each_event_at<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    places: &[Seq],
    mut each: impl FnMut(StoredEvent) -> Result<(), E>,
) -> Result<(), E> {
    let mut left = places;
    while let Some(next) = left.first() {
        let end = next.0.saturating_add(TOGETHER as u64);
        let near = left.partition_point(|seq| seq.0 < end);
        let limit = if near * 16 > TOGETHER { TOGETHER } else { 1 };
        let events = reader.events(run, Seq(next.0.saturating_sub(1)), limit)?;
        let newest = events.last().map_or(*next, |event| event.seq.max(*next));
        for event in events {
            if left.first() == Some(&event.seq) {
                left = left.get(1..).unwrap_or(&[]);
                each(event)?;
            }
        }
        left = left.get(left.partition_point(|seq| *seq <= newest)..).unwrap_or(&[]);
    }
    Ok(())
}
