//! `retold import EXPERIMENT FOLDER`: runs an original run of another program again with our code.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use crate::again::begins;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::run_id::new_run_id;
use crate::runs::conclusion::{begun, stopped};
use crate::runs::config::is_of;
use crate::runs::original::{command, is_one};
use crate::runs::record::started;
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::settings_of;
use crate::select::{self, RunSelection};
use retold::event::RunStarted;
use retold::log::Log;
use retold::model::Prices;
use retold::run::{Finish, Mode, RunRecord, Stop};
use retold_study::error::ExperimentError;
use retold_study::original::{Original, OriginalComparison};
use retold_study::study::Study;

/// How many differences are listed; the rest are counted.
const LISTED: usize = 20;

pub(crate) fn run(
    experiment: &str,
    original: &Path,
    resumed: Option<&str>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let unknown = |e: ExperimentError| CliError::usage(e.to_string());
    let Some(imported) = global.studies.original(experiment, original).map_err(unknown)? else {
        return Err(CliError::usage(format!(
            "experiment {experiment} cannot import original runs"
        ))
        .hint("`retold import FILE` imports a recording or an exchanges file"));
    };
    let imported = imported?;
    let shown = original.display().to_string();
    let execution = match resumed {
        Some(name) => {
            let (selected, started) = unfinished(name, &imported.study, &shown, global)?;
            Execution { selected, started, mode: Mode::Resume, imported }
        }
        None => {
            let started = started(&imported.study, imported.model.as_ref())?;
            let backend = global.open_or_create()?;
            let selected = RunSelection { log: Log::new(backend), run: new_run_id()? };
            Execution { selected, started, mode: Mode::Record, imported }
        }
    };
    execute(execution, &shown, global, output)
}

/// The run in this log that runs an original run again, to be continued.
fn unfinished(
    name: &str,
    study: &Study,
    original: &str,
    global: &Global,
) -> Result<(RunSelection, RunStarted), CliError> {
    let selected = select::run(global, name)?;
    let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
    if !is_one(&settings_of(global.studies, &started)?) || !is_of(global.studies, study, &started)?
    {
        let message = format!("run {} is not an import of {original} as it is now", selected.run);
        return Err(
            CliError::usage(message).hint("without --resume, it is imported again as another run")
        );
    }
    Ok((selected, started))
}

/// An original run that is about to be run again.
struct Execution {
    selected: RunSelection,
    started: RunStarted,
    mode: Mode,
    imported: Original,
}

/// Runs an original run, or the rest of it, and compares the results.
fn execute(
    execution: Execution,
    original: &str,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Execution { selected: RunSelection { log, run }, started, mode, imported } = execution;
    let Original { study, model, notes, compare } = imported;
    let session = StudyExecution {
        log: log.clone(),
        run,
        mode,
        started,
        settings: study.settings.clone(),
        prices: Prices::default(),
        model: Some(model),
        trace: None,
    };
    let ended = begun(session::go(session, global)?, &log, run)?;
    let mut reader = log.reader()?;
    let name = retold_archive::short_name(reader.as_mut(), run)?;
    let go_on = command(global.studies, &study.experiment, original, &name);
    if let Finish::Stopped(Stop::Interrupted) = ended.finish {
        let message = format!("run {run} is not finished");
        return Err(CliError::new(Status::Interrupted, message)
            .hint(format!("`retold {go_on}` continues it; nothing is lost")));
    }
    if !matches!(ended.finish, Finish::Finished) {
        return stopped(ended, &go_on).map_or(Ok(Status::Interrupted), Err);
    }
    let mut record = RunRecord::read(reader.as_mut(), run)?;
    let built = global.studies.build(&study.experiment, &study.settings.experiment);
    let built = built.map_err(|e| CliError::usage(e.to_string()))?;
    let OriginalComparison { compared, differences, not_compared } =
        compare(&built.outputs_any(&mut record)?);
    if output.is_json() {
        output.object(&json!({
            "run": run,
            "experiment": study.experiment,
            "exchanges": ended.progress.exchanges,
            "decisions": ended.progress.decisions,
            "outcome_digest": ended.outcome_digest,
            "notes": notes,
            "compared": compared,
            "differences": differences,
            "not_compared": not_compared,
            "report": ended.report.json,
        }))?;
    } else {
        let mut text = format!(
            "run {run}: {} of {} imported\n",
            counted(ended.progress.exchanges, "answer"),
            original
        );
        // Writing to a string cannot fail.
        for note in &notes {
            let _ = writeln!(text, "not in the original: {note}");
        }
        let _ = writeln!(
            text,
            "{} compared with the original's, {} different",
            counted(compared, "value"),
            differences.len()
        );
        for left in &not_compared {
            let _ = writeln!(text, "not compared: {left}");
        }
        for difference in differences.iter().take(LISTED) {
            let _ = writeln!(text, "  {difference}");
        }
        if differences.len() > LISTED {
            let _ = writeln!(text, "  and {} more: --json lists all", differences.len() - LISTED);
        }
        let _ = write!(text, "\n{}\nnext:\n  {} replay {name}\n", ended.report.text, begins());
        output.text(&text)?;
    }
    Ok(if differences.is_empty() { Status::Fine } else { Status::Difference })
}
