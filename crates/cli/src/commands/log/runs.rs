//! The list of runs, and the damage that is known without reading all their events.

use crate::runs::batches::{batch_line, waiting};
use crate::views::event::finding_as_json;
use crate::views::last_writer;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{CliError, LOST, NAMES_DAMAGE, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use retold::escaping::printable;
use retold::event::{Event, RunStarted, StoredEvent};
use retold::id::{RunId, Seq, Time};
use retold::log::{
    Backend, EventFault, Fault, Finding, Head, Log, LogError, Reader, RunHead, deleted_runs,
};
use retold::members::Members;
use retold::run::{latest_start, maybe_resumed};
use retold::totals::dollars;
use retold_archive::{Damage, log_findings, without_end};

use super::run_table::table;
use super::spending::{self, CallSpending};

/// A line of the list.
pub(super) struct RunRow {
    pub(super) run: RunId,
    pub(super) started: Time,
    pub(super) experiment: String,
    pub(super) outcome: String,
    pub(super) model: String,
    pub(super) head: Head,
    pub(super) name: Option<String>,
    /// From its first event to its last.
    pub(super) took: Option<Duration>,
    /// `None` if it was not read.
    pub(super) spending: Option<CallSpending>,
}

/// Lists the runs. Damage is reported after them, so that nothing incomplete is taken for complete.
pub(super) fn list(log: &Log, global: &Global, output: &Output) -> Result<Status, CliError> {
    let mut reader = log.reader()?;
    let (mut rows, mut problems) = (Vec::new(), Vec::new());
    // If not even the runs can be listed, those that the ledger names are.
    let heads = match reader.runs() {
        Err(error @ LogError::Damaged { .. }) => match deleted_runs(log.backend().as_ref())? {
            named if named.is_empty() => return Err(error.into()),
            _ => Vec::new(),
        },
        heads => heads?,
    };
    // A ledger that cannot be read is reported below.
    let maybe_resumed = maybe_resumed(reader.as_mut()).unwrap_or_default();
    let mut spent = spending::of_newest(&mut log.checked_reader()?, &heads, global)?;
    for head in heads {
        let spent = spent.remove(&head.run).transpose();
        let (row, mut problem) = row(log.backend().as_ref(), reader.as_mut(), head, global);
        let mut row = RunRow { spending: spent.as_ref().ok().copied().flatten(), ..row };
        if maybe_resumed.contains(&row.run)
            && let Ok(latest) = latest_start(reader.as_mut(), row.run)
        {
            row.model = kind_of_model(&latest);
        }
        // Damage that was met while its calls were counted.
        if let Some(error) = spent.err().filter(LogError::is_damage)
            && problem.is_none()
        {
            row.outcome = "damaged".to_owned();
            problem = Some(damage_of(row.run, error));
        }
        rows.push(row);
        problems.extend(problem);
    }
    let runs: Vec<RunId> = rows.iter().map(|row| row.run).collect();
    problems.extend(log_findings(log.backend().as_ref(), reader.as_mut(), &runs, &problems)?);
    if output.is_json() {
        let runs = rows.iter().map(|row| {
            let RunRow { run, started, experiment, outcome, model, head, name, took, spending } =
                row;
            let mut object = json!({"run": run, "experiment": experiment, "started": started.to_string(),
                "outcome": outcome, "model": model, "events": head.seq, "head": head.hash,
                "name": name, "seconds": took.map(|took| took.as_secs_f64()),
                "calls": spending.map(|of| of.calls), "failed_calls": spending.map(|of| of.failed),
                "reused_answers": spending.map(|of| of.reused),
                "dollars": spending.and_then(|of| of.dollars)});
            if let Some(with_shards) = spending.and_then(|of| of.with_shards) {
                object.set("dollars_with_shards", with_shards.into());
            }
            object
        });
        let runs: Vec<Value> = runs.collect();
        let wrong: Vec<Value> = problems.iter().map(finding_as_json).collect();
        output.object(&json!({"runs": runs, "problems": wrong}))?;
    } else {
        let more = format!("{}{}", waiting_batches(log, &rows)?, written_elsewhere(log, &rows)?);
        output.text(&format!("{}{more}", text(&rows)))?;
        problems.iter().try_for_each(|problem| output.print_damage(&damage(problem)))?;
    }
    if problems.is_empty() {
        return Ok(Status::Fine);
    }
    let found = count_of(problems.len() as u64, "problem");
    let message = format!("{} is damaged: {found}", log.backend().name());
    let error = CliError::new(Status::Difference, message);
    let hint = match log.backend().losses().is_empty() {
        true => NAMES_DAMAGE,
        false => LOST,
    };
    error.hint(hint).print();
    Ok(Status::Difference)
}

/// A run, and the first event that is known to be missing or damaged: its first, or one at its end.
fn row(
    log: &dyn Backend,
    reader: &mut dyn Reader,
    RunHead { run, started, head }: RunHead,
    global: &Global,
) -> (RunRow, Option<Finding>) {
    let unknown = || "?".to_owned();
    let damaged = |error: LogError| damage_of(run, error);
    // A damaged run does not hide the others.
    let first = match retold::run::run_start(reader, run) {
        Ok(first) => first,
        Err(error) => {
            let (experiment, outcome, model) = (unknown(), "damaged".to_owned(), unknown());
            let (name, took, spending) = (None, None, None);
            let row =
                RunRow { run, started, experiment, outcome, model, head, name, took, spending };
            return (row, Some(damaged(error)));
        }
    };
    let last = reader.events(run, Seq(head.seq.0.saturating_sub(1)), 1);
    let end = last.as_ref().ok().and_then(|last| last.first()).map(|last| last.time);
    let took = end.and_then(|end| u64::try_from(end.0 - started.0).ok()).map(Duration::from_millis);
    let (outcome, problem) = match last.map(|last| last.first().map(StoredEvent::event)) {
        Ok(Some(Ok(Event::RunFinished(finished)))) => {
            (printable(finished.outcome.as_str(), 20), None)
        }
        Ok(last) => match reader.events(run, head.seq, 1) {
            // Its end is missing.
            Err(error) => ("damaged".to_owned(), Some(damaged(error))),
            Ok(_) => {
                let last = last.and_then(Result::ok);
                (without_end(log, run, last.as_ref()).to_owned(), None)
            }
        },
        Err(error) => ("damaged".to_owned(), Some(damaged(error))),
    };
    let model = kind_of_model(&first);
    let name = global.studies.run_name(&first);
    let (experiment, spending) = (first.experiment, None);
    (RunRow { run, started, experiment, outcome, model, head, name, took, spending }, problem)
}

fn kind_of_model(started: &RunStarted) -> String {
    started.model["kind"].as_str().unwrap_or("?").to_owned()
}

/// Why a run cannot be read.
fn damage_of(run: RunId, error: LogError) -> Finding {
    match error {
        LogError::Corrupt { seq, fault, .. } => Finding::of_event(run, seq, *fault),
        LogError::NoSuchRun { .. } => Finding::of_event(run, Seq(1), EventFault::NoEvents),
        other => Finding::of_run(run, Fault::of_error(other)),
    }
}

fn text(rows: &[RunRow]) -> String {
    let mut text = format!("{}\n", count_of(rows.len() as u64, "run"));
    text.push_str(&table(rows));
    for row in rows {
        if let Some(cost) = row.spending.and_then(|of| of.with_shards) {
            let cost = dollars(Some(cost));
            text.push_str(&format!(
                "run {} and its shards cost {cost} together\n",
                row.run.short(8)
            ));
        }
    }
    let is_left_out = rows.iter().any(|row| row.spending.is_none() && row.outcome != "damaged");
    if is_left_out {
        text.push_str(
            "calls and cost are those of the newest runs that can be read at once: `retold stats RUN` counts those of any\n",
        );
    }
    text
}

/// What runs wait for.
fn waiting_batches(log: &Log, rows: &[RunRow]) -> Result<String, CliError> {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.outcome == "waiting") {
        for batch in waiting(log, row.run)? {
            text.push_str(&format!("run {}: {}\n", row.run.short(8), batch_line(&batch)));
        }
    }
    Ok(text)
}

/// Who wrote runs that may still be running on other machines.
fn written_elsewhere(log: &Log, rows: &[RunRow]) -> Result<String, CliError> {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.outcome == "unfinished") {
        if let Some(wrote) = last_writer::elsewhere(log, row.run)? {
            text.push_str(&format!("run {}: {wrote}\n", row.run.short(8)));
        }
    }
    Ok(text)
}

/// The damage, in a sentence.
fn damage(Finding { run, seq, fault }: &Finding) -> String {
    match (run, seq) {
        (Some(run), Some(seq)) => {
            let damage = Damage { seq: *seq, fault: fault.clone() };
            damage.distrust(&format!("run {}", run.short(8)))
        }
        (Some(run), None) => format!("run {}: {fault}", run.short(8)),
        _ => fault.to_string(),
    }
}
