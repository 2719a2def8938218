//! Where a run was continued, and what was added to its rules then.

use retold::event::{Event, RunResumed};
use retold::id::{RunId, Seq};
use retold::log::{Index, LogError, Reader};

use crate::rules::RecordedRules;

/// The kind of the events at which a run was continued.
const RUN_RESUMED: &str = "RunResumed";

/// Events in one read.
const BATCH: usize = 512;

/// Where a run was continued, in order.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub(crate) fn resumptions(
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

/// The rules that were added whenever a run was continued.
///
/// # Errors
/// [`LogError`] if the run cannot be read, or is damaged.
pub fn rules_added(reader: &mut dyn Reader, run: RunId) -> Result<RecordedRules, LogError> {
    let mut all = RecordedRules::default();
    for (_, resumed) in resumptions(reader, run)? {
        // What a later release has written there is for that release.
        let added: RecordedRules = serde_json::from_value(resumed.settings).unwrap_or_default();
        all.ignore.extend(added.ignore);
        all.replace.extend(added.replace);
    }
    Ok(all)
}
