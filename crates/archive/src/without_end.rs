//! What a run without an end is called, by every list, page and report.

use std::path::Path;

use retold::id::RunId;
use retold::log::is_being_written;

/// `running` while a process has the run open to record, or else `unfinished`. `log` is the log's file, if it has one.
pub fn without_end(log: Option<&Path>, run: RunId) -> &'static str {
    match log {
        Some(log) if is_being_written(log, run) => "running",
        _ => "unfinished",
    }
}
