//! `retold import EXPERIMENT FOLDER`: an original run of another program, executed again by our code.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::Global;
use super::error::{CliError, Status};
use super::output::{Output, counted};
use super::run::{new_run_id, started};
use super::select;
use super::session::{self, Session};
use crate::experiments::reenact::{Comparison, Reenactment};
use crate::experiments::registry;
use crate::log::{Log, SqliteBackend};
use crate::run::{Finish, Mode, RunRecord};

/// Differences that are listed; the rest is counted.
const LISTED: usize = 20;

pub(super) fn run(
    experiment: &str,
    original: &Path,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let unknown = |e: registry::RegistryError| CliError::usage(e.to_string());
    let Some(reenactment) = registry::reenact(experiment, original).map_err(unknown)? else {
        return Err(CliError::usage(format!(
            "experiment {experiment} knows no original runs that it could execute again"
        ))
        .hint("`retold import FILE` takes a recording or an exchanges file"));
    };
    let Reenactment { study, model, notes, compare } = reenactment?;
    let started = started(&study, model.as_ref())?;
    let log = Log::new(Arc::new(SqliteBackend::open_or_create(&global.log, global.sqlite())?));
    let run = new_run_id()?;
    let session = Session {
        log: log.clone(),
        run,
        mode: Mode::Record,
        started,
        settings: study.settings.clone(),
        model: Some(model),
    };
    let ended = session::go(session, global)?;
    let mut reader = log.reader()?;
    let name = select::short_name(reader.as_mut(), run)?;
    if !matches!(ended.finish, Finish::Finished) {
        return session::stopped(ended, &name).map_or(Ok(Status::Interrupted), Err);
    }
    let mut record = RunRecord::read(reader.as_mut(), run)?;
    let built = registry::build(&study.experiment, &study.settings.experiment).map_err(unknown)?;
    let Comparison { compared, differences, not_compared } =
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
            "run {run}: {} of {} executed again\n",
            counted(ended.progress.exchanges, "answer"),
            original.display()
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
        let _ = write!(text, "\n{}\nnext:\n  retold replay {name}\n", ended.report.text);
        output.text(&text)?;
    }
    Ok(if differences.is_empty() { Status::Fine } else { Status::Difference })
}
