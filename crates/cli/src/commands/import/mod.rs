//! `retold import`.

mod original;

use std::path::PathBuf;

use serde_json::json;

use crate::again::begins;
use crate::error::{CliError, NOTHING_IMPORTED, Status};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::run_id::new_run_id;
use crate::select;
use retold::exchange::{
    DECISIONS, EXCHANGES, ImportError, Imported, Recording, import_recording, is_recording,
    read_exchanges, read_recording,
};
use retold::id::{RunId, Seq};
use retold::jsonl::JsonlReader;
use retold::log::{Reader, SqliteBackend, verify_run};
use retold::run::clock;

/// Import a recording or an exchanges file into the log, or run an original run of another program
/// again.
///
/// A file is checked first. It is imported completely or not at all.
///
/// `retold import EXPERIMENT FOLDER` runs the experiment with the settings found in the folder, and
/// answers each of its questions with the original answer. It reports what the original did not
/// record, and compares our outputs with the original's: exit code 1 if they differ.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file (JSON Lines, plain or .gz or .zst; `-` for standard input), or the experiment of an
    /// original run.
    file: PathBuf,
    /// The original run's folder or file.
    original: Option<PathBuf>,
    /// Continue this unfinished import of an original run: first digits of its id, or `latest`.
    #[arg(long, value_name = "RUN", requires = "original")]
    resume: Option<String>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    if let Some(original) = &args.original {
        return original::run(
            &args.file.to_string_lossy(),
            original,
            args.resume.as_deref(),
            global,
            output,
        );
    }
    let path = &args.file;
    let shown = path.display();
    if !path.exists() && global.studies.knows_originals(&path.to_string_lossy()) {
        let message = format!("import {shown}: which original run?");
        return Err(CliError::usage(message)
            .hint(format!("give its folder or file: `retold import {shown} PATH`")));
    }
    // Opened only once, because a pipe can be read only once.
    let mut lines = JsonlReader::open(path).map_err(ImportError::from)?;
    let shown = lines.path().display().to_string();
    if is_recording(&mut lines) {
        // Read whole and checked before the log is touched.
        let recording = read_recording(lines)?;
        sound(&recording, &shown)?;
        let backend = SqliteBackend::open_or_create(&global.log, global.sqlite())?;
        let Imported { added, known } = import_recording(&backend, &recording)?;
        let run = recording.run;
        if output.is_json() {
            output.object(&json!({"run": run, "events": added, "known": known}))?;
        } else if added == 0 {
            output.text(&format!("the whole run {run} is already in the log\n"))?;
        } else {
            let added = counted(added, "event");
            let next = next_step(recording.log.reader()?.as_mut(), run)?;
            output.text(&format!(
                "run {run}: {added} imported from {shown}\n\nnext:\n  {} {next}\n",
                begins()
            ))?;
        }
        return Ok(Status::Fine);
    }
    let exchanges = read_exchanges(lines, clock::now())?;
    let (run, count, simulated) = (new_run_id()?, exchanges.count, exchanges.simulated);
    let dropped = exchanges.labels_dropped;
    exchanges.store(&SqliteBackend::open_or_create(&global.log, global.sqlite())?, run)?;
    if output.is_json() {
        output.object(&json!({
            "run": run, "exchanges": count, "simulated": simulated, "labels_dropped": dropped,
        }))?
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        let count = counted(count, "exchange");
        let dropped = match dropped {
            0 => String::new(),
            n => format!("{} dropped: a failed call has no answer to label\n", counted(n, "label")),
        };
        output.text(&format!("run {run}: {count} imported from {shown}\n{said}{dropped}"))?;
    }
    Ok(Status::Fine)
}

/// What to do with an imported run, after `retold`: what has no experiment is not replayed.
fn next_step(reader: &mut dyn Reader, run: RunId) -> Result<String, CliError> {
    let name = run.short(8);
    Ok(match select::started(reader, run)?.experiment.as_str() {
        DECISIONS => format!("check {name}"),
        EXCHANGES => format!("check {name} --parser NAME@VERSION"),
        _ => format!("replay {name}"),
    })
}

/// A hash chain can be valid although its events make no sense. Such a run, which `verify` would
/// always reject, is not imported, because nothing can be removed from a log.
fn sound(recording: &Recording, path: &str) -> Result<(), CliError> {
    let mut reader = recording.log.reader()?;
    let first = reader.events(recording.run, Seq(0), 1)?.pop();
    let begins = first.is_some_and(|first| first.kind == "RunStarted");
    let what = match verify_run(reader.as_mut(), recording.run, None)?.problem {
        Some(problem) => problem.to_string(),
        None if !begins => "its first event is not the start of a run".to_owned(),
        None => return select::started(reader.as_mut(), recording.run).map(drop),
    };
    Err(CliError::new(Status::Difference, format!("{path}: {what}")).hint(NOTHING_IMPORTED))
}
