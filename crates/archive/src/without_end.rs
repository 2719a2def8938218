//! The name of the state of a run without an end, in every list, page and report.

use retold::event::{BatchStep, Event};
use retold::id::RunId;
use retold::log::{Backend, is_being_written};

/// `running` while a process of this machine has the run open to record, or else `waiting` if its last event is of a batch that has
/// not been collected, or else `unfinished`.
pub fn without_end(log: &dyn Backend, run: RunId, last: Option<&Event>) -> &'static str {
    let is_open = log.file().is_some_and(|file| is_being_written(&file, run));
    let writer = if is_open { None } else { log.last_writer(run).ok().flatten() };
    match is_open || writer.is_some_and(|writer| writer.is_alive == Some(true)) {
        true => "running",
        false => match last {
            Some(Event::Batch(BatchStep::Collected(_))) | None => "unfinished",
            Some(Event::Batch(_)) => "waiting",
            Some(_) => "unfinished",
        },
    }
}
