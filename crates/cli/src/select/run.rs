//! A run that a user names, in the log or in a recording.

use crate::again::{file_of, spell_commands};
use crate::error::{CliError, NAMES_DAMAGE, Status};
use crate::global::Global;
use crate::output::count_of;
use crate::select::named::{each_once, find, names_a_file};
use crate::select::opened::{open, open_to_read};
use crate::select::recording::{load, load_to_damage};
use crate::select::selection::RunSelection;
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::{Log, Reader, Verification, verify_run};

/// The run in the log that a user names.
pub(crate) fn run(global: &Global, name: &str) -> Result<RunSelection, CliError> {
    run_of(open(global)?, name, global)
}

/// The run of a given log that a user names.
pub(crate) fn run_of(log: Log, name: &str, global: &Global) -> Result<RunSelection, CliError> {
    let run = find(&log, name, global)?.run;
    Ok(RunSelection { log, run })
}

/// The run that a user names, in the log or in a recording, which must be whole. Neither is changed.
pub(crate) fn run_or_file(global: &Global, name: &str) -> Result<RunSelection, CliError> {
    match names_a_file(global, name) {
        true => load(name),
        false => run_of(open_to_read(global)?, name, global),
    }
}

/// The same for a command that only reads it.
pub(crate) fn to_read(global: &Global, name: &str) -> Result<RunSelection, CliError> {
    match names_a_file(global, name) {
        true => load_to_damage(name),
        false => run_of(open_to_read(global)?, name, global),
    }
}

/// The runs that a user names, in the log or in recordings, for a command that only reads them. The log is opened once.
pub(crate) fn runs_to_read(
    global: &Global,
    names: &[String],
) -> Result<Vec<RunSelection>, CliError> {
    each_named(global, names, open_to_read, load_to_damage, Ok)
}

/// Each name as that of a file or of a run of the log, which is opened for the first such name.
pub(super) fn each_named<T>(
    global: &Global,
    names: &[String],
    open: fn(&Global) -> Result<Log, CliError>,
    of_file: impl Fn(&str) -> Result<T, CliError>,
    of_run: fn(RunSelection) -> Result<T, CliError>,
) -> Result<Vec<T>, CliError> {
    let mut opened: Option<Log> = None;
    let mut named = |name: &String| {
        if names_a_file(global, name) {
            return of_file(name);
        }
        let log = match &opened {
            Some(log) => log.clone(),
            None => opened.insert(open(global)?).clone(),
        };
        of_run(run_of(log, name, global)?)
    };
    names.iter().map(&mut named).collect()
}

/// The runs that a user names, each once; all of them, if none is named.
pub(crate) fn choose(log: &Log, names: &[String], global: &Global) -> Result<Vec<RunId>, CliError> {
    if names.is_empty() {
        return Ok(log.reader()?.runs()?.into_iter().map(|head| head.run).collect());
    }
    let found = names.iter().map(|name| Ok(find(log, name, global)?.run));
    let found = found.collect::<Result<Vec<RunId>, CliError>>()?;
    Ok(each_once(found, |run| *run))
}

/// The beginning of a run.
pub(crate) fn run_start(reader: &mut dyn Reader, run: RunId) -> Result<RunStarted, CliError> {
    Ok(retold::run::run_start(reader, run)?)
}

/// Verifies a run on which something permanent will be based. `nothing` is the part of the message that names the
/// step that was not done.
///
/// # Errors
/// [`CliError`] with the damage and exit code 1, or if the log cannot be read.
pub(crate) fn sound(log: &Log, run: RunId, nothing: &str) -> Result<Verification, CliError> {
    let verified = verify_run(log.backend().reader()?.as_mut(), run, None)?;
    match &verified.finding {
        None => Ok(verified),
        Some(finding) => Err(CliError::new(Status::Difference, finding.to_string())
            .hint(format!("{nothing}: {NAMES_DAMAGE}"))),
    }
}

/// Which part of the shown data was checked.
pub(crate) fn checked_line(events: u64, run: RunId) -> String {
    let (events, run) =
        (count_of(events, "event"), file_of(run).map_or_else(|| run.short(8), |file| file.name));
    spell_commands(&format!(
        "checked: {events} read for this, each against its hash; `retold verify {run}` checks all\n"
    ))
}
