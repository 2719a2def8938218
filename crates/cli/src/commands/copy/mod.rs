//! `retold copy`.

mod needed;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::needed::{NeededRuns, needed_runs};
use crate::error::{CliError, NAMES_DAMAGE, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::progress;
use crate::select;
use retold::exchange::{ImportError, ImportResult, Recording, import_recording};
use retold::id::RunId;
use retold::log::{Log, LogError, SharedBackend, verify_run};
use retold_archive::{Archive, bucket, open_or_create_store};

/// Copy runs from one log to another: a file, a bucket or a folder.
///
/// Each run is verified first, and has the same events, hashes and head in the other log. What is there already is not
/// copied again, so the same command continues where it was interrupted, and brings a log up to date later. Nothing that
/// either log has is changed.
///
/// Forks, merged runs and accepted decisions depend on other runs. Those that the other log does not have are named, with the
/// command that copies them.
///
/// Logs are named as with --log: by the path of a file, or as s3://BUCKET/PREFIX, gs://BUCKET/PREFIX,
/// az://CONTAINER/PREFIX or file:///FOLDER.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The runs; all of them, if none is named.
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// The log that they are copied from, if it is not that of --log.
    #[arg(long, value_name = "LOG")]
    from: Option<PathBuf>,
    /// The log that they are copied to. It is created if there is none.
    #[arg(long, value_name = "LOG")]
    to: PathBuf,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, from, to } = args;
    let from = from.unwrap_or_else(|| global.log.clone());
    if is_same(&from, &to) {
        let message = format!("{} is the log that runs are copied from", to.display());
        return Err(CliError::usage(message).hint("name another log with --to"));
    }
    let source = Archive::open(&from, global.sqlite())?.log();
    let runs = select::choose(&source, &runs, global)?;
    let target = open_or_create_store(&to, global.sqlite())?;
    let (mut copied, mut done, mut new, mut failed) = (Vec::new(), Vec::new(), 0, 0_u64);
    for run in runs {
        let ImportResult { added, known } = match copy(&source, run, &target, output) {
            Ok(result) => result,
            // The others can be copied all the same.
            Err(error) if error.status == Status::Difference => {
                error.print();
                failed += 1;
                continue;
            }
            Err(error) => return Err(error),
        };
        new += u64::from(added > 0);
        if !output.is_json() {
            output.text(&line(run, added, known))?;
        }
        done.push(run);
        copied.push(json!({"run": run, "events": added, "known": known}));
    }
    let lacking = needed_runs(&source, target.as_ref(), &done)?;
    if output.is_json() {
        let lacking: Vec<Value> = lacking.iter().map(NeededRuns::json).collect();
        output.object(
            &json!({"to": target.name(), "runs": Value::from(copied), "lacking": lacking}),
        )?;
    } else {
        lacking.iter().try_for_each(|run| output.text(&run.text(&to)))?;
        let all = count_of(copied.len() as u64, "run");
        output.text(&format!("{all}, of which {new} had something new for {}\n", target.name()))?;
    }
    Ok(if failed > 0 { Status::Difference } else { Status::Fine })
}

fn is_same(from: &Path, to: &Path) -> bool {
    let place = |path: &Path| match bucket(path) {
        Ok(Some(url)) => PathBuf::from(url.place()),
        _ => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
    };
    place(from) == place(to)
}

/// Copies one run, if all of it is as it was written.
fn copy(
    source: &Log,
    run: RunId,
    target: &SharedBackend,
    output: &Output,
) -> Result<ImportResult, CliError> {
    let _shown = progress::verifying(output);
    let found = verify_run(source.reader()?.as_mut(), run, None)?;
    if let Some(finding) = found.finding {
        let message = format!("run {run} was not copied: {finding}");
        return Err(CliError::new(Status::Difference, message).hint(NAMES_DAMAGE));
    }
    let recording = Recording { run, log: source.backend().clone(), head: found.head };
    let result = import_recording(target.as_ref(), &recording).map_err(|error| match error {
        ImportError::OtherHistory { seq, .. } => CliError::new(
            Status::Difference,
            format!(
                "run {run} was not copied: {} has another run of this id, from seq {seq} on",
                target.name()
            ),
        ),
        other => other.into(),
    })?;
    let there = target.reader()?.runs()?.into_iter().find(|head| head.run == run);
    if there.is_none_or(|there| there.head.seq < found.head.seq) {
        let missing = LogError::NoSuchRun { run, path: target.name() };
        return Err(missing.into());
    }
    Ok(result)
}

fn line(run: RunId, added: u64, known: u64) -> String {
    let run = run.short(8);
    match (added, known) {
        (0, _) => format!("run {run}: all of it was already there\n"),
        (added, 0) => format!("run {run}: {} copied\n", count_of(added, "event")),
        (added, known) => {
            format!("run {run}: {} copied, {known} were already there\n", count_of(added, "event"))
        }
    }
}
