//! Answers to be read, of a run or of a file of exchanges.

use crate::error::CliError;
use crate::global::Global;
use crate::select::named::names_a_file;
use crate::select::opened::{open, open_to_read};
use crate::select::recording::{lines_of, read_to_damage, read_whole, unusable};
use crate::select::run::{each_named, run, run_of, run_start};
use crate::select::selection::RunSelection;
use retold::exchange::{is_recording, read_exchanges};
use retold::id::RunId;
use retold::jsonl::JsonlReader;
use retold::log::{CheckedReader, Log};
use retold::run::clock;

/// A run whose answers are read, or a file of exchanges.
pub(crate) struct RunSource {
    pub(crate) log: Log,
    pub(crate) run: RunId,
    /// The file, if it has exchanges rather than a run.
    pub(crate) file: Option<String>,
    /// Whether any of the answers are simulated.
    pub(crate) simulated: bool,
}

impl RunSource {
    /// A reader that checks every event it returns: decisions about changed answers would be
    /// worthless.
    pub(crate) fn checked_reader(&self) -> Result<CheckedReader, CliError> {
        Ok(self.log.checked_reader()?)
    }

    /// Its name for messages.
    pub(crate) fn name(&self) -> String {
        match &self.file {
            Some(file) => file.clone(),
            None => format!("run {}", self.run),
        }
    }
}

/// The run that a user names, in the log or in a recording, or a file of exchanges.
pub(crate) fn source(global: &Global, name: &str) -> Result<RunSource, CliError> {
    match names_a_file(global, name) {
        true => answers_of_file(name, read_whole),
        false => answers_of(run(global, name)?),
    }
}

/// The same for a command that only reads it.
pub(crate) fn source_to_read(global: &Global, name: &str) -> Result<RunSource, CliError> {
    match names_a_file(global, name) {
        true => answers_of_file(name, read_to_damage),
        false => answers_of(run_of(open_to_read(global)?, name, global)?),
    }
}

/// The sources that a user names. The log is opened once.
pub(crate) fn sources_to_read(
    global: &Global,
    names: &[String],
) -> Result<Vec<RunSource>, CliError> {
    sources(global, names, open_to_read, read_to_damage)
}

/// The same for a command that writes to the log.
pub(crate) fn sources_to_write(
    global: &Global,
    names: &[String],
) -> Result<Vec<RunSource>, CliError> {
    sources(global, names, open, read_whole)
}

fn sources(
    global: &Global,
    names: &[String],
    open: fn(&Global) -> Result<Log, CliError>,
    read: fn(JsonlReader) -> Result<RunSelection, CliError>,
) -> Result<Vec<RunSource>, CliError> {
    each_named(global, names, open, |name| answers_of_file(name, read), answers_of)
}

/// The runs themselves, with the logs that they are in.
pub(crate) fn runs_of(sources: &[RunSource]) -> Vec<(&Log, RunId)> {
    sources.iter().map(|source| (&source.log, source.run)).collect()
}

fn answers_of(selected: RunSelection) -> Result<RunSource, CliError> {
    let RunSelection { log, run } = selected;
    let started = run_start(log.reader()?.as_mut(), run);
    let started = started.map_err(|error| match error.met.as_deref().cloned() {
        Some((run, met)) => error.damage(Some(run), met),
        None => error,
    })?;
    let simulated = started.is_simulated();
    Ok(RunSource { log, run, file: None, simulated })
}

fn answers_of_file(
    name: &str,
    read: impl FnOnce(JsonlReader) -> Result<RunSelection, CliError>,
) -> Result<RunSource, CliError> {
    let mut lines = lines_of(name)?;
    if !is_recording(&mut lines) {
        let exchanges = read_exchanges(lines, clock::now()).map_err(unusable)?;
        let simulated = exchanges.simulated;
        let (log, run) = exchanges.into_log();
        return Ok(RunSource { log: Log::new(log), run, file: Some(name.to_owned()), simulated });
    }
    answers_of(read(lines)?)
}
