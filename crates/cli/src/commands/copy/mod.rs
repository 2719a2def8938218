//! `retold copy`.

mod compact;
mod needed;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::needed::{NeededRuns, needed_runs};
use crate::again::{quote, spell_commands};
use crate::error::{CliError, NAMES_DAMAGE, Status, without_compaction};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::abandon::end_run;
use crate::{progress, redaction, select};
use retold::exchange::{
    ImportError, ImportResult, Recording, RescuedRun, import_recording, rescue_run,
};
use retold::id::RunId;
use retold::log::{Finding, Log, LogError, SharedBackend, verify_run};
use retold::run::how_it_ended;
use retold_archive::{Archive, bucket, open_or_create_store};

/// Copy runs from one log to another: a file, a bucket or a folder.
///
/// Each run is verified first, and has the same events, hashes and head in the other log. What is there already is not
/// copied again, so the same command continues where it was interrupted, and brings a log up to date later. Nothing that
/// either log has is changed.
///
/// What is left of a damaged run becomes a new run, which names the damaged one and lists the events that were lost. The new run
/// counts as abandoned: `retold fork` continues from it, and asks only for what was lost. The exit code is then 1.
///
/// Forks, merged runs and accepted decisions depend on other runs. Those that the other log does not have are named, with the
/// command that copies them.
///
/// With --compact, runs are copied within a bucket or a shared folder. There, a run that was recorded has an object for each
/// commit. Once it has ended, its events are copied to a few more objects, with an index: one call of it is then shown with a
/// handful of requests, and all of it is read faster. The run is verified meanwhile, and what was written is read back. Nothing is
/// deleted, but the run no longer needs the objects in `runs/RUN` that it had by then, so a lifecycle rule of the bucket may
/// remove them later. A run that was compacted is left alone, unless it has gone on since.
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
    #[arg(long, value_name = "LOG", required_unless_present = "compact")]
    to: Option<PathBuf>,
    /// Also copy the keys of --redact, to LOG-key. Without them, a replay of the copy does not find requests with a redacted
    /// value; with them, guesses at these values can be tested.
    #[arg(long, requires = "to")]
    with_key: bool,
    /// Merge the many objects of runs in the bucket of --log into a few.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    compact: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, from, to, with_key, compact } = args;
    let Some(to) = to.filter(|_| !compact) else {
        return compact::compact(&runs, global, output);
    };
    let from = from.unwrap_or_else(|| global.log.clone());
    if is_same(&from, &to) {
        let message = format!("{} is the log that runs are copied from", to.display());
        return Err(CliError::usage(message).hint("name another log with --to"));
    }
    if bucket(&to)?.is_none() && !select::is_log(&to.to_string_lossy()) {
        CliError::refuse_log(&to)?;
    }
    let keys = redaction::keys(&from)?;
    if with_key && keys.keys.is_empty() {
        let message = format!(
            "there is no key file {}, because nothing was recorded with --redact",
            keys.place
        );
        return Err(CliError::usage(message).hint("leave out --with-key"));
    }
    if with_key {
        redaction::can_be_kept(&to)?;
    }
    let archive = Archive::open(&from, global.sqlite())?;
    let source = select::report_damage(archive.log());
    let are_all = runs.is_empty();
    let runs = select::choose(&source, &runs, global)?;
    if runs.is_empty() {
        let status = if archive.is_damaged() { Status::Difference } else { Status::Usage };
        let message = format!("{} has no runs that could be copied", from.display());
        return Err(CliError::new(status, message));
    }
    // Of a run of which nothing is left, there is nothing to copy.
    let lacks_some = are_all && !source.backend().losses().is_empty();
    let target = open_or_create_store(&to, global.sqlite())?;
    let (mut copied, mut done, mut new, mut failed) = (Vec::new(), Vec::new(), 0, 0_u64);
    for run in runs {
        let ImportResult { added, known } = match copy(
            &source,
            archive.store(),
            run,
            &target,
            output,
        ) {
            Ok(CopiedRun::Whole(result)) => result,
            Ok(CopiedRun::Rest(finding, rest)) => {
                failed += 1;
                if !output.is_json() {
                    output.text(&rest_text(&finding, &rest, run, &to))?;
                }
                let RescuedRun { run: rest, kept, lost, was_there } = rest;
                new += u64::from(!was_there);
                copied.push(json!({"run": run, "damage": finding.to_string(), "rest": rest, "events": kept, "lost": lost}));
                continue;
            }
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
    let key = with_key.then(|| redaction::place(&to).display().to_string());
    if with_key {
        redaction::add(&to, &keys.keys)?;
    }
    let lacking = needed_runs(&source, target.as_ref(), &done)?;
    if output.is_json() {
        let lacking: Vec<Value> = lacking.iter().map(NeededRuns::json).collect();
        output.object(
            &json!({"to": target.name(), "runs": Value::from(copied), "lacking": lacking, "key_file": key}),
        )?;
    } else {
        lacking.iter().try_for_each(|run| output.text(&run.text(&to)))?;
        let all = count_of(copied.len() as u64, "run");
        output.text(&format!("{all}, of which {new} had something new for {}\n", target.name()))?;
        output.text(&match key {
            Some(key) => format!("the keys of --redact were copied to {key}\n"),
            None if keys.keys.is_empty() => String::new(),
            None => format!(
                "the keys of --redact were not copied, and are in {}: a replay of the copy does not find requests \
                 with a redacted value without them (--with-key copies them)\n",
                keys.place
            ),
        })?;
    }
    Ok(if failed > 0 || lacks_some { Status::Difference } else { Status::Fine })
}

fn is_same(from: &Path, to: &Path) -> bool {
    let place = |path: &Path| match bucket(path) {
        Ok(Some(url)) => PathBuf::from(url.place()),
        _ => std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()),
    };
    place(from) == place(to)
}

/// What became of a run in the other log.
enum CopiedRun {
    /// The same run, of which these events are new there.
    Whole(ImportResult),
    /// What is left of a damaged one, as another run.
    Rest(Finding, RescuedRun),
}

/// Copies one run: as it is, or if it is damaged, what is left of it.
fn copy(
    source: &Log,
    store: &SharedBackend,
    run: RunId,
    target: &SharedBackend,
    output: &Output,
) -> Result<CopiedRun, CliError> {
    let _shown = progress::verifying(output);
    let found = verify_run(source.backend().reader()?.as_mut(), run, None)?;
    if let Some(finding) = found.finding {
        let rest = rescue_run(store.as_ref(), run, target.as_ref());
        let rest = rest.map_err(|error| {
            let message = format!("run {run} was not copied: {finding}");
            match error {
                LogError::Corrupt { .. } => {
                    CliError::new(Status::Difference, message).hint(NAMES_DAMAGE)
                }
                error => error.into(),
            }
        })?;
        let log = Log::new(target.clone());
        if how_it_ended(log.reader()?.as_mut(), rest.run)?.is_none() {
            // It is never resumed: a fork asks for what was lost, and makes all decisions again.
            end_run(&log, rest.run)?;
        }
        return Ok(CopiedRun::Rest(finding, rest));
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
    Ok(CopiedRun::Whole(result))
}

fn rest_text(finding: &Finding, rest: &RescuedRun, run: RunId, to: &Path) -> String {
    let RescuedRun { run: new, kept, lost, was_there } = rest;
    let new = new.short(8);
    let was_there = if *was_there { ", which was already there" } else { "" };
    let mut text = format!(
        "run {} is damaged: {finding}\n  what is left of it, {}, is a new run, {new}{was_there}; lost: {}\n",
        run.short(8),
        count_of(*kept, "event"),
        count_of(*lost, "event")
    );
    // All of the run may be there, and then nothing of it is lost.
    if let Some(hint) = without_compaction(run, &finding.fault) {
        text.push_str(&spell_commands(&format!("  {hint}\n")));
    }
    if let Some(to) = quote(&to.to_string_lossy()) {
        text.push_str(&spell_commands(&format!(
            "  `retold --log {to} fork {new}` continues from it, and asks only for what was lost\n"
        )));
    }
    text
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
