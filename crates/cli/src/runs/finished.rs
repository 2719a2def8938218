//! The run that a command has just recorded, by what it was to ask.

use serde_json::Value;

use crate::error::{CliError, Status};
use crate::runs::settings::as_recorded;
use crate::select;
use retold::id::RunId;
use retold::log::Log;
use retold::run::how_it_ended;

/// The run of an experiment with these settings that finished last.
pub(crate) fn find_finished(
    log: &Log,
    experiment: &str,
    wanted: &Value,
) -> Result<RunId, CliError> {
    // A number such as 1.0 is recorded as 1.
    let wanted = as_recorded(wanted);
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        // A damaged run is reported by commands that are about it.
        let Ok(started) = select::run_start(reader.as_mut(), head.run) else { continue };
        let is_it = started.experiment == experiment && started.settings["experiment"] == wanted;
        if is_it && how_it_ended(reader.as_mut(), head.run)?.is_some() {
            return Ok(head.run);
        }
    }
    Err(CliError::new(Status::Io, format!("the run of {experiment} is not in the log any more")))
}
