//! The file of a recording, a cassette or exchanges that a user names.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::again::read_from;
use crate::error::{CliError, Status, write_err};
use crate::run_id::new_run_id;
use crate::select::selection::RunSelection;
use crate::views::traffic::write_notes;
use retold::exchange::{
    ImportError, is_recording, read_exchanges, read_recording, read_recording_to_damage,
};
use retold::id::Seq;
use retold::jsonl::{JsonlProblem, JsonlReader, beginning};
use retold::log::{Fault, Log, MemoryBackend};
use retold::run::clock;
use retold_archive::{Archive, Damage, up_to};
use retold_traffic::{BEGINNING, Format, Options};

/// A recording as far as it is as it was written.
pub(super) fn load_to_damage(name: &str) -> Result<RunSelection, CliError> {
    match cassette(name)? {
        Some(selected) => Ok(selected),
        None => read_to_damage(lines_of(name)?),
    }
}

pub(super) fn load(name: &str) -> Result<RunSelection, CliError> {
    match cassette(name)? {
        Some(selected) => Ok(selected),
        None => read_whole(lines_of(name)?),
    }
}

/// The run in a cassette, of ours, of vcrpy or of VCR; `None` if the file is not one. Lists the parts that a run
/// cannot represent.
pub(crate) fn cassette(name: &str) -> Result<Option<RunSelection>, CliError> {
    let path = Path::new(name);
    // A pipe is not looked into: the bytes read from it are gone.
    if !path.is_file() {
        return Ok(None);
    }
    let format = Format::recognise(&beginning(path, BEGINNING));
    let Some(format @ (Format::Cassette | Format::Vcrpy | Format::Vcr)) = format else {
        return Ok(None);
    };
    let paths = [path.to_owned()];
    let read = retold_traffic::import(format, &paths, Options::default(), clock::now())?;
    let mut notes = String::new();
    write_notes(&mut notes, &read.notes);
    if !notes.is_empty() {
        write_err(&format!("{name}, {notes}"));
    }
    let (log, run) = (MemoryBackend::with_name(name.to_owned()), new_run_id()?);
    read.run.store(&log, run)?;
    read_from(run, path, false);
    Ok(Some(RunSelection { log: Log::new(Arc::new(log)), run }))
}

pub(super) fn read_to_damage(lines: JsonlReader) -> Result<RunSelection, CliError> {
    let path = lines.path().to_owned();
    let (recording, problem) = read_recording_to_damage(lines).map_err(without_events)?;
    read_from(recording.run, &path, problem.is_some());
    let log = match problem {
        Some(problem) => up_to(recording.log, problem),
        None => recording.log,
    };
    Ok(RunSelection { log: Log::new(log), run: recording.run })
}

pub(super) fn read_whole(lines: JsonlReader) -> Result<RunSelection, CliError> {
    let path = lines.path().to_owned();
    let recording = read_recording(lines).map_err(damaged_recording)?;
    read_from(recording.run, &path, false);
    Ok(RunSelection { log: Log::new(recording.log), run: recording.run })
}

/// The archive that the page shows for a recording or a file of exchanges.
pub(crate) fn to_serve(name: &str) -> Result<Archive, CliError> {
    let mut lines = lines_of(name)?;
    let read = match is_recording(&mut lines) {
        true => read_to_damage(lines).map(|selected| selected.log.backend().clone()),
        false => {
            read_exchanges(lines, clock::now()).map(|found| found.into_log().0).map_err(unusable)
        }
    };
    match read {
        Ok(log) => Ok(Archive::read(log)),
        Err(CliError { damage: Some(found), .. }) => {
            Ok(Archive::empty_recording(name.to_owned(), found.fault.to_string()))
        }
        Err(error) => Err(error),
    }
}

/// The lines of a recording or an exchanges file. A log has none, and is chosen with an option.
pub(super) fn lines_of(name: &str) -> Result<JsonlReader, CliError> {
    if is_log(name) {
        let hint = format!("give it with --log {name}, and a run of it: `latest`, for example");
        return Err(CliError::usage(format!("{name} is a log, not a recording")).hint(hint));
    }
    JsonlReader::open(name).map_err(|e| unusable(e.into()))
}

/// True if a file begins like a log. A pipe is not looked into: the bytes read from it are gone.
pub(crate) fn is_log(name: &str) -> bool {
    let mut begin = Vec::new();
    let mut read = || std::fs::File::open(name)?.take(100).read_to_end(&mut begin);
    Path::new(name).is_file() && read().is_ok() && begin.starts_with(b"SQLite format 3\0")
}

/// A recording that is not as it was written has the exit code of a difference. A file whose first line
/// cannot be read is not known to be a recording, unless it is packed.
fn damaged_recording(error: ImportError) -> CliError {
    let is_damage = match &error {
        ImportError::File(error) => match error.problem {
            JsonlProblem::Open(_) | JsonlProblem::Read(_) | JsonlProblem::NotPacked { .. } => false,
            JsonlProblem::Truncated | JsonlProblem::Spoilt { .. } => true,
            _ => error.line != Some(1),
        },
        ImportError::NoFirstLine { .. }
        | ImportError::Line { .. }
        | ImportError::BrokenChain { .. }
        | ImportError::CutOff { .. }
        | ImportError::OtherHead { .. }
        | ImportError::Empty { .. } => true,
        _ => false,
    };
    let error = unusable(error);
    if is_damage { CliError { status: Status::Difference, ..error } } else { error }
}

/// The same for one of which not even the first event can be read.
fn without_events(error: ImportError) -> CliError {
    let why = error.to_string();
    match damaged_recording(error) {
        error if error.status == Status::Difference => {
            error.damage(None, Damage { seq: Seq(1), fault: Fault::Recording { why } })
        }
        error => error,
    }
}

/// For a file that is only read, "nothing was imported" is left out of the message.
pub(super) fn unusable(error: ImportError) -> CliError {
    let mut error = CliError::from(error);
    error.hints.retain(|hint| hint != crate::error::NOTHING_IMPORTED);
    error
}
