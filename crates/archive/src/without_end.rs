//! The name of the state of a run without an end, in every list, page and report.

use std::path::Path;

use retold::id::RunId;
use retold::log::{Backend, is_being_written};

/// `running` while a process of this machine has the run open to record, or else `unfinished`. `file` is the log's file, if
/// it has one.
pub fn without_end(log: &dyn Backend, file: Option<&Path>, run: RunId) -> &'static str {
    let is_open = file.is_some_and(|file| is_being_written(file, run));
    let writer = if is_open { None } else { log.last_writer(run).ok().flatten() };
    match is_open || writer.is_some_and(|writer| writer.is_alive == Some(true)) {
        true => "running",
        false => "unfinished",
    }
}
