//! Finds what a user names: the log, a run by prefix or `latest`, a recording by its file.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::again::{file_of, read_from, typed};
use crate::error::{CliError, LOST, NAMES_DAMAGE, Status, write_err};
use crate::global::Global;
use crate::output::counted;
use crate::run_id::new_run_id;
use crate::views::traffic::said;
use retold::event::RunStarted;
use retold::exchange::{
    ImportError, is_recording, read_exchanges, read_recording, read_recording_to_damage,
};
use retold::id::{RunId, Seq};
use retold::jsonl::{JsonlProblem, JsonlReader, beginning};
use retold::log::{
    CheckedReader, Fault, Finding, Log, LogError, MemoryBackend, Reader, RunHead, SqliteBackend,
    Verification, verify_run,
};
use retold::run::{LATEST, clock};
use retold_archive::{
    Archive, Damage, FindError, RunMatch, RunView, first_untrusted, open_store, up_to,
};
use retold_traffic::{BEGINNING, Format, Options};

/// Opens an existing log; lost events and damage to the file are reported on stderr.
pub(crate) fn open(global: &Global) -> Result<Log, CliError> {
    // A run that was killed before its first event leaves a log without runs. It is read as such
    // and not changed; `run` and `import` write the first run.
    if SqliteBackend::is_only_begun(&global.log) {
        let empty = MemoryBackend::named(global.log.display().to_string());
        return Ok(Log::new(Arc::new(empty)));
    }
    let backend = open_store(&global.log, global.sqlite())?;
    Ok(reported(Log::new(backend)))
}

/// Opens an existing log for a command that only reads it: neither the log nor anything beside it is
/// changed, whatever its state, and one that was cut off is read as far as it goes.
pub(crate) fn open_to_read(global: &Global) -> Result<Log, CliError> {
    Ok(reported(open_to_read_silently(global)?))
}

/// The same for a command that reports lost events itself.
pub(crate) fn open_to_read_silently(global: &Global) -> Result<Log, CliError> {
    Ok(log_of(&Archive::open(&global.log, global.sqlite())?, global))
}

/// The same to verify the log: nothing is read from copies that this machine keeps.
pub(crate) fn open_to_verify_silently(global: &Global) -> Result<Log, CliError> {
    Ok(log_of(&Archive::open_to_verify(&global.log, global.sqlite())?, global))
}

fn log_of(archive: &Archive, global: &Global) -> Log {
    if let Some(note) = archive.note() {
        write_err(&format!("warning: {}: {note}\n", global.log.display()));
    }
    if let Some(warning) = archive.warning() {
        write_err(&format!("warning: {warning}\n"));
    }
    archive.log()
}

/// The same for a command that verifies one run.
pub(crate) fn open_to_verify(global: &Global) -> Result<Log, CliError> {
    Ok(reported(open_to_verify_silently(global)?))
}

/// Reports on stderr what a log has lost, and what is damaged.
fn reported(log: Log) -> Log {
    let lost = log.backend().lost();
    if !lost.is_empty() {
        for problem in &lost {
            write_err(&format!("warning: {}: {problem}\n", log.backend().name()));
        }
        write_err(&typed(&format!("  hint: {LOST}\n")));
    }
    if let Some(problem) = log.backend().damaged() {
        let log = log.backend().name();
        let hint = typed(NAMES_DAMAGE);
        write_err(&format!("warning: {log}: {problem}\n  hint: {hint}\n"));
    }
    log
}

/// A run in a log.
pub(crate) struct RunSelection {
    pub(crate) log: Log,
    pub(crate) run: RunId,
}

impl RunSelection {
    /// A run up to its damage: reading on is an error that names it.
    pub(crate) fn up_to_damage(view: &RunView) -> Self {
        RunSelection { log: view.log(), run: view.run() }
    }

    /// A run as it was before its damage, as if nothing had come later.
    pub(crate) fn before_damage(view: &RunView) -> Self {
        RunSelection { log: view.before_damage(), run: view.run() }
    }

    /// A reader that checks every event it returns, for output to people.
    pub(crate) fn checked(&self) -> Result<CheckedReader, CliError> {
        Ok(CheckedReader::new(self.log.reader()?))
    }
}

/// A run as it was after one of its events.
pub(crate) struct RunAsOf {
    pub(crate) selected: RunSelection,
    pub(crate) at: Seq,
    /// The last event that the run has.
    pub(crate) end: Seq,
}

impl RunSelection {
    /// The run as it was after an event. There is no such thing after an event that is damaged.
    pub(crate) fn as_of(&self, at: u64, damage: Option<&Damage>) -> Result<RunAsOf, CliError> {
        if let Some(damage) = damage.filter(|damage| at >= damage.seq.0) {
            let error = CliError::usage(damage.no_state_after(Seq(at)));
            return Err(match damage.last_good() {
                Some(last) => error.hint(format!("the last that can be trusted is --at {last}")),
                None => error,
            });
        }
        let head = self.log.reader()?.runs()?.into_iter().find(|head| head.run == self.run);
        let end = head.map_or(Seq(0), |head| head.head.seq);
        if !(1..=end.0).contains(&at) {
            let events = counted(end.0, "event");
            let message =
                format!("run {} has no event {at} to be shown as of: it has {events}", self.run);
            return Err(CliError::usage(message).hint(format!("--at is from 1 to {end}")));
        }
        let (at, run) = (Seq(at), self.run);
        Ok(RunAsOf { selected: RunSelection { log: self.log.as_of(run, at), run }, at, end })
    }
}

/// Verifies a run on which something permanent will be based. `nothing` is the part of the message
/// that says what was not done.
///
/// # Errors
/// What is damaged, with exit code 1; or that the log cannot be read.
pub(crate) fn sound(
    reader: &mut dyn Reader,
    run: RunId,
    nothing: &str,
) -> Result<Verification, CliError> {
    let verified = verify_run(reader, run, None)?;
    match &verified.finding {
        None => Ok(verified),
        Some(finding) => Err(CliError::new(Status::Difference, finding.to_string())
            .hint(format!("{nothing}: {NAMES_DAMAGE}"))),
    }
}

/// The runs that a user names, each once; all of them, if none is named.
pub(crate) fn chosen(log: &Log, names: &[String], global: &Global) -> Result<Vec<RunId>, CliError> {
    if names.is_empty() {
        return Ok(log.reader()?.runs()?.into_iter().map(|head| head.run).collect());
    }
    let found = names.iter().map(|name| Ok(find(log, name, global)?.run));
    let found = found.collect::<Result<Vec<RunId>, CliError>>()?;
    Ok(each_once(found, |run| *run))
}

/// Which part of the shown data was checked.
pub(crate) fn checked(events: u64, run: RunId) -> String {
    let (events, run) =
        (counted(events, "event"), file_of(run).map_or_else(|| run.short(8), |file| file.name));
    typed(&format!(
        "checked: {events} read for this, each against its hash; `retold verify {run}` checks all\n"
    ))
}

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
        true => recorded(name),
        false => run_of(open_to_read(global)?, name, global),
    }
}

/// The same for a command that only reads it.
pub(crate) fn to_read(global: &Global, name: &str) -> Result<RunSelection, CliError> {
    match names_a_file(global, name) {
        true => recorded_to_damage(name),
        false => run_of(open_to_read(global)?, name, global),
    }
}

/// A recording as far as it is as it was written.
fn recorded_to_damage(name: &str) -> Result<RunSelection, CliError> {
    match cassette(name)? {
        Some(selected) => Ok(selected),
        None => read_to_damage(lines_of(name)?),
    }
}

fn read_to_damage(lines: JsonlReader) -> Result<RunSelection, CliError> {
    let path = lines.path().to_owned();
    let (recording, problem) = read_recording_to_damage(lines).map_err(without_events)?;
    read_from(recording.run, &path, problem.is_some());
    let log = match problem {
        Some(problem) => up_to(recording.log, problem),
        None => recording.log,
    };
    Ok(RunSelection { log: Log::new(log), run: recording.run })
}

fn recorded(name: &str) -> Result<RunSelection, CliError> {
    match cassette(name)? {
        Some(selected) => Ok(selected),
        None => read_whole(lines_of(name)?),
    }
}

/// The run in a cassette, of ours, of vcrpy or of VCR; `None` if the file is none. What a run cannot represent of it is listed.
fn cassette(name: &str) -> Result<Option<RunSelection>, CliError> {
    let path = Path::new(name);
    // A pipe is not looked into: what is read of it is gone.
    if !path.is_file() {
        return Ok(None);
    }
    let format = Format::recognised(&beginning(path, BEGINNING));
    let Some(format @ (Format::Cassette | Format::Vcrpy | Format::Vcr)) = format else {
        return Ok(None);
    };
    let paths = [path.to_owned()];
    let read = retold_traffic::import(format, &paths, Options::default(), clock::now())?;
    let mut notes = String::new();
    said(&mut notes, &read.notes);
    if !notes.is_empty() {
        write_err(&format!("{name}, {notes}"));
    }
    let (log, run) = (MemoryBackend::named(name.to_owned()), new_run_id()?);
    read.run.store(&log, run)?;
    read_from(run, path, false);
    Ok(Some(RunSelection { log: Log::new(Arc::new(log)), run }))
}

fn read_whole(lines: JsonlReader) -> Result<RunSelection, CliError> {
    let path = lines.path().to_owned();
    let recording = read_recording(lines).map_err(damaged_recording)?;
    read_from(recording.run, &path, false);
    Ok(RunSelection { log: Log::new(recording.log), run: recording.run })
}

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
    pub(crate) fn checked(&self) -> Result<CheckedReader, CliError> {
        Ok(CheckedReader::new(self.log.reader()?))
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

/// What a user names, the log being opened once.
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

/// The runs that a user names, in the log or in recordings, for a command that only reads them. The log is opened once.
pub(crate) fn runs_to_read(
    global: &Global,
    names: &[String],
) -> Result<Vec<RunSelection>, CliError> {
    each_named(global, names, open_to_read, recorded_to_damage, Ok)
}

fn sources(
    global: &Global,
    names: &[String],
    open: fn(&Global) -> Result<Log, CliError>,
    read: fn(JsonlReader) -> Result<RunSelection, CliError>,
) -> Result<Vec<RunSource>, CliError> {
    each_named(global, names, open, |name| answers_of_file(name, read), answers_of)
}

/// Each name as that of a file or of a run of the log, which is opened for the first such name.
fn each_named<T>(
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

/// The runs themselves, with the logs that they are in.
pub(crate) fn runs_of(sources: &[RunSource]) -> Vec<(&Log, RunId)> {
    sources.iter().map(|source| (&source.log, source.run)).collect()
}

fn answers_of(selected: RunSelection) -> Result<RunSource, CliError> {
    let RunSelection { log, run } = selected;
    let simulated = match started(log.reader()?.as_mut(), run) {
        Ok(started) => started.is_simulated(),
        Err(error) => {
            return Err(match first_untrusted(log.backend().as_ref(), run)? {
                Some(damage) => {
                    let Damage { seq, fault } = damage.clone();
                    let first = CliError::from(LogError::corrupt(run, seq, fault));
                    first.hints_of(error).damage(Some(run), damage)
                }
                None => error,
            });
        }
    };
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

/// What the page shows of a recording or a file of exchanges.
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
fn lines_of(name: &str) -> Result<JsonlReader, CliError> {
    if is_log(name) {
        let hint = format!("give it with --log {name}, and a run of it: `latest`, for example");
        return Err(CliError::usage(format!("{name} is a log, not a recording")).hint(hint));
    }
    JsonlReader::open(name).map_err(|e| unusable(e.into()))
}

/// Whether a file begins like a log. A pipe is not looked into: what is read of it is gone.
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
fn unusable(error: ImportError) -> CliError {
    let mut error = CliError::from(error);
    error.hints.retain(|hint| hint != crate::error::NOTHING_IMPORTED);
    error
}

/// Whether a text means a file rather than a run of the log. What could be an id is a run, and so is `latest` (a file named
/// `cafe` is given as `./cafe`). Anything else is a file if there is one, and else a run if one has this name. What is neither
/// is a file if it looks like one, with a dot or a slash.
pub(crate) fn names_a_file(global: &Global, name: &str) -> bool {
    if name == LATEST || name.chars().all(|c| c.is_ascii_hexdigit()) {
        return false;
    }
    let path = Path::new(name);
    // A pipe is a file as well.
    (path.exists() && !path.is_dir())
        || name.contains(['.', '/', '\\']) && !names_a_run(global, name)
}

/// Whether a run of the log has this name. A log that cannot be read is reported when it is opened for something else.
fn names_a_run(global: &Global, name: &str) -> bool {
    let archive = Archive::open(&global.log, global.sqlite());
    let name_of = |started: &RunStarted| global.studies.run_name(started);
    archive.is_ok_and(|archive| {
        retold_archive::find(archive.backend().as_ref(), name, &name_of).is_ok()
    })
}

/// Runs without repetitions, which a note names.
pub(crate) fn each_once<T>(named: Vec<T>, run_of: impl Fn(&T) -> RunId) -> Vec<T> {
    let (mut known, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    let mut is_new = |of: &T| {
        let run = run_of(of);
        let is_new = known.insert(run);
        if !is_new && repeated.insert(run) {
            write_err(&format!(
                "note: run {} is named more than once and counts once\n",
                run.short(8)
            ));
        }
        is_new
    };
    named.into_iter().filter(|of| is_new(of)).collect()
}

/// Finds a run: see [`retold_archive::find`].
pub(crate) fn find(log: &Log, name: &str, global: &Global) -> Result<RunHead, CliError> {
    let name_of = |started: &RunStarted| global.studies.run_name(started);
    let RunMatch { head, may_be_earlier } =
        retold_archive::find(log.backend().as_ref(), name, &name_of)?;
    if may_be_earlier {
        write_err(&format!(
            "warning: {}: `latest` is {}, but a later run may be among what is lost\n",
            log.backend().name(),
            head.run.short(8)
        ));
    }
    Ok(head)
}

impl From<FindError> for CliError {
    fn from(error: FindError) -> Self {
        let message = error.to_string();
        match error {
            FindError::Log(error) => error.into(),
            FindError::NameAndId { .. } => {
                CliError::usage(message).hint("give more digits of the one that you mean")
            }
            FindError::Ambiguous { .. } => CliError::usage(message).hint("give more digits"),
            FindError::AtTheSameTime { .. } => CliError::usage(message)
                .hint("give the first digits of the id of the one that you mean"),
            FindError::NoRuns { .. } => CliError::usage(message),
            FindError::Gone { finding, .. } => {
                let Finding { run, fault, .. } = *finding;
                CliError::new(Status::Difference, message)
                    .hint(NAMES_DAMAGE)
                    .damage(run, Damage { seq: Seq(1), fault })
            }
            _ => CliError::usage(message).hint("`retold log` lists the runs"),
        }
    }
}

/// The beginning of a run.
pub(crate) fn started(reader: &mut dyn Reader, run: RunId) -> Result<RunStarted, CliError> {
    Ok(retold::run::started(reader, run)?)
}

/// Printed wherever simulated answers are shown.
pub(crate) const SIMULATED: &str =
    "SIMULATED: a program made these answers up; they are not data\n";
