//! Where a run was continued.

use crate::event::kind::RUN_RESUMED;
use crate::event::{Event, RunResumed};
use crate::id::{RunId, Seq};
use crate::log::{Index, LogError, Reader};
use crate::model::RequestForm;

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

/// How the continuations of a run have changed the way in which its requests are written.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub fn added_form(reader: &mut dyn Reader, run: RunId) -> Result<RequestForm, LogError> {
    let mut form = RequestForm::default();
    for (_, resumed) in resumptions(reader, run)? {
        form.extend(RequestForm::of_settings(&resumed.settings));
    }
    Ok(form)
}
