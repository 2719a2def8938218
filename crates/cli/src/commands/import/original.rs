//! `retold import EXPERIMENT FOLDER..`: runs original runs of another program again with our code.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::again::begins;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::run_id::new_run_id;
use crate::runs::conclusion::refuse_unrecorded;
use crate::runs::config::is_of;
use crate::runs::first_event::first_event;
use crate::runs::original::{command, is_one};
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::settings_of;
use crate::runs::stopped::stop_error;
use crate::select::{self, RunSelection};
use crate::views::columns::{Column, align};
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::Log;
use retold::run::{ExecutionResult, Finish, Mode, RunRecord};
use retold_study::error::ExperimentError;
use retold_study::original::{Original, OriginalComparison};
use retold_study::study::Study;

/// How many differences are listed; the rest are counted.
const LISTED: usize = 20;

/// Runs one original run again and reports what differs.
pub(crate) fn run(
    experiment: &str,
    original: &Path,
    resumed: Option<&str>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let imported = read(experiment, original, global)?;
    let imported = import(imported, original, resumed, global)?;
    match output.is_json() {
        true => output.object(&imported.as_json())?,
        false => output.text(&imported.text())?,
    }
    Ok(imported.status())
}

/// Runs several original runs again, each as a run of its own, and sums them up. All are read before the first is imported.
pub(crate) fn run_all(
    experiment: &str,
    originals: &[PathBuf],
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let read = originals.iter().map(|original| read(experiment, original, global));
    let read: Vec<Original> = read.collect::<Result<_, _>>()?;
    let (mut all, mut stopped) = (Vec::new(), None);
    for (imported, original) in read.into_iter().zip(originals) {
        match import(imported, original, None, global) {
            Ok(imported) => all.push(imported),
            // The rest would stop for the same reason: the log is full, or somebody pressed Ctrl-C.
            Err(e) => {
                stopped = Some(e);
                break;
            }
        }
    }
    match output.is_json() {
        true => {
            let runs: Vec<Value> = all.iter().map(ImportedOriginal::as_json).collect();
            output.object(&json!({"runs": runs, "originals": originals.len()}))?;
        }
        false => output.text(&summary(&all, originals.len()))?,
    }
    let status = all.iter().map(ImportedOriginal::status).max_by_key(|status| status.code());
    stopped.map_or(Ok(status.unwrap_or(Status::Fine)), Err)
}

/// Several imports, a line each.
fn summary(all: &[ImportedOriginal], asked: usize) -> String {
    const COLUMNS: [Column; 5] = [
        Column::text("run"),
        Column::number("answers"),
        Column::number("compared"),
        Column::number("different"),
        Column::text("original"),
    ];
    let cells = all.iter().map(|of| {
        let answers = group_digits(of.ended.progress.exchanges);
        let (compared, different) = (of.compared, of.differences.len() as u64);
        vec![
            of.name.clone(),
            answers,
            group_digits(compared),
            group_digits(different),
            of.original.clone(),
        ]
    });
    let runs = count_of(asked as u64, "original run");
    let mut text = format!("{} of {runs} imported\n\n{}", all.len(), align(&COLUMNS, cells));
    let names: Vec<&str> = all.iter().map(|of| of.name.as_str()).collect();
    if !names.is_empty() {
        let (names, retold) = (names.join(" "), begins());
        text.push_str(&format!(
            "\nnext:\n  {retold} stats {names}\n  {retold} table {names} --to tables\n"
        ));
    }
    text
}

/// Reads an original run.
fn read(experiment: &str, original: &Path, global: &Global) -> Result<Original, CliError> {
    let unknown = |e: ExperimentError| CliError::usage(e.to_string());
    let Some(imported) = global.studies.original(experiment, original).map_err(unknown)? else {
        return Err(CliError::usage(format!(
            "experiment {experiment} cannot import original runs"
        ))
        .hint("`retold import FILE` imports a recording or an exchanges file"));
    };
    Ok(imported?)
}

/// Runs an original run, or the rest of it, and compares the results.
fn import(
    imported: Original,
    original: &Path,
    resumed: Option<&str>,
    global: &Global,
) -> Result<ImportedOriginal, CliError> {
    let Original { study, model, notes, compare } = imported;
    let original = original.display().to_string();
    let (RunSelection { log, run }, started, mode) = match resumed {
        Some(name) => {
            let (selected, started) = find_unfinished(name, &study, &original, global)?;
            (selected, started, Mode::Resume)
        }
        None => {
            let mut started = first_event(&study, model.as_ref())?;
            global.studies.record_name(&mut started);
            let log = Log::new(global.open_or_create()?);
            (RunSelection { log, run: new_run_id()? }, started, Mode::Record)
        }
    };
    let execution = StudyExecution {
        model: Some(model),
        ..StudyExecution::new(log.clone(), run, mode, started, study.settings.clone())
    };
    let ended = refuse_unrecorded(session::go(execution, global)?, &log, run)?;
    let mut reader = log.reader()?;
    let name = retold_archive::short_name(reader.as_mut(), run)?;
    let go_on = command(global.studies, &study.experiment, &original, &name);
    if !matches!(ended.finish, Finish::Finished) {
        let message = format!("run {run} is not finished");
        let interrupted = CliError::new(Status::Interrupted, message)
            .hint(format!("`retold {go_on}` continues it; nothing is lost"));
        return Err(stop_error(ended, &go_on).unwrap_or(interrupted));
    }
    let mut record = RunRecord::read(reader.as_mut(), run)?;
    let built = global.studies.build(&study.experiment, &study.settings.experiment);
    let built = built.map_err(|e| CliError::usage(e.to_string()))?;
    let OriginalComparison { compared, differences, not_compared } =
        compare(&built.outputs_any(&mut record)?);
    let experiment = study.experiment;
    Ok(ImportedOriginal {
        run,
        name,
        experiment,
        original,
        ended,
        notes,
        compared,
        differences,
        not_compared,
    })
}

/// The run in this log that runs an original run again, to be continued.
fn find_unfinished(
    name: &str,
    study: &Study,
    original: &str,
    global: &Global,
) -> Result<(RunSelection, RunStarted), CliError> {
    let selected = select::run(global, name)?;
    let started = select::run_start(selected.log.reader()?.as_mut(), selected.run)?;
    if !is_one(&settings_of(global.studies, &started)?) || !is_of(global.studies, study, &started)?
    {
        let message = format!("run {} is not an import of {original} as it is now", selected.run);
        return Err(
            CliError::usage(message).hint("without --resume, it is imported again as another run")
        );
    }
    Ok((selected, started))
}

/// An original run that was run again, and how its results compare.
struct ImportedOriginal {
    run: RunId,
    /// The run, as a command names it.
    name: String,
    experiment: String,
    original: String,
    ended: ExecutionResult,
    notes: Vec<String>,
    compared: u64,
    differences: Vec<String>,
    not_compared: Vec<String>,
}

impl ImportedOriginal {
    fn status(&self) -> Status {
        if self.differences.is_empty() { Status::Fine } else { Status::Difference }
    }

    fn as_json(&self) -> Value {
        let ExecutionResult { progress, outcome_digest, report, .. } = &self.ended;
        json!({
            "run": self.run,
            "experiment": self.experiment,
            "exchanges": progress.exchanges,
            "decisions": progress.decisions,
            "outcome_digest": outcome_digest,
            "notes": self.notes,
            "compared": self.compared,
            "differences": self.differences,
            "not_compared": self.not_compared,
            "report": report.json,
        })
    }

    fn text(&self) -> String {
        let ImportedOriginal { run, name, original, ended, compared, differences, .. } = self;
        let mut text = format!(
            "run {run}: {} of {original} imported\n",
            count_of(ended.progress.exchanges, "answer"),
        );
        // Writing to a string cannot fail.
        for note in &self.notes {
            let _ = writeln!(text, "not in the original: {note}");
        }
        let _ = writeln!(
            text,
            "{} compared with the original's, {} different",
            count_of(*compared, "value"),
            differences.len()
        );
        for left in &self.not_compared {
            let _ = writeln!(text, "not compared: {left}");
        }
        for difference in differences.iter().take(LISTED) {
            let _ = writeln!(text, "  {difference}");
        }
        if differences.len() > LISTED {
            let _ = writeln!(text, "  and {} more: --json lists all", differences.len() - LISTED);
        }
        let _ = write!(text, "\n{}\nnext:\n  {} replay {name}\n", ended.report.text, begins());
        text
    }
}
