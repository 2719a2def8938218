//! The gate between runs and everything that shows them: a command is written as if logs were sound.
//!
//! Each event is compared with its hash as it is read, and what the log knows of the end of a run is known from the
//! beginning. Damage is said first, and the exit code is that of a difference. A command that [shows](show_run) a run
//! shows what comes before the damage; one that [computes](through) something of it computes nothing.

use retold::id::RunId;
use retold::log::{Log, LogError};
use retold_archive::{Damage, RunView, Verdict};

use crate::error::{CliError, NAMES_DAMAGE, Status};
use crate::output::{Output, THIS_RUN};
use crate::select::RunSelection;

/// A run with what is known of its end; nothing is printed.
pub(crate) fn view(log: &Log, run: RunId) -> Result<RunView, CliError> {
    Ok(RunView::new(log.backend().clone(), run)?)
}

/// The same of several runs.
pub(crate) fn views(runs: &[(&Log, RunId)]) -> Result<Vec<RunView>, CliError> {
    runs.iter().map(|(log, run)| view(log, *run)).collect()
}

/// Shows something of a run: all of it, or what comes before the damage that is met.
pub(crate) fn show_run(
    selected: &RunSelection,
    output: &Output,
    work: impl Fn(&RunView) -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let mut view = view(&selected.log, selected.run)?;
    loop {
        let views = std::slice::from_ref(&view);
        let known = say(views, output)?;
        let done = work(&view);
        match done.as_ref().err().and_then(|error| error.met.as_deref()) {
            Some((run, met))
                if *run == view.run() && is_earlier(met, &view) && !output.has_begun() =>
            {
                let met = met.clone();
                view = view.ending_at(met);
            }
            _ => return end(done, known, views, output),
        }
    }
}

fn is_earlier(met: &Damage, view: &RunView) -> bool {
    view.damage().is_none_or(|known| met.seq < known.seq)
}

/// Computes something of runs: each is read up to its damage, where reading on is an error.
pub(crate) fn show_runs<const N: usize>(
    runs: [RunSelection; N],
    output: &Output,
    work: impl FnOnce([RunSelection; N]) -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let named = runs.each_ref().map(|of| (&of.log, of.run));
    let views = views(&named)?;
    let mut ends = views.iter();
    let up_to_damage = runs.map(|run| ends.next().map_or(run, RunSelection::up_to_damage));
    through(&views, output, || work(up_to_damage))
}

/// Computes something of runs that were looked at.
pub(crate) fn through(
    views: &[RunView],
    output: &Output,
    work: impl FnOnce() -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let known = say(views, output)?;
    end(work(), known, views, output)
}

/// Says how to do without a damaged run if it is another one, on which what was asked for depends: one of decisions that were
/// accepted about these, say.
pub(crate) fn without_others(error: CliError, runs: &[RunId]) -> CliError {
    let met = error.met.as_deref().map(|(run, _)| *run);
    let Some(other) = met.filter(|other| !runs.contains(other)) else { return error };
    let these: Vec<String> = runs.iter().map(|run| run.short(8)).collect();
    error.hint(format!(
        "`retold copy {} --to FILE` copies what is asked about to another log, without run {} and the decisions accepted in it",
        these.join(" "),
        other.short(8)
    ))
}

/// Prints a run's banner, or the first of several; returns the run and the error to end with.
fn say(views: &[RunView], output: &Output) -> Result<Option<(RunId, CliError)>, CliError> {
    let is_cut = |view: &&RunView| view.damage().is_some();
    let damaged = views.iter().find(is_cut);
    let damaged = damaged.or_else(|| views.iter().find(|view| view.verdict().is_damaged()));
    let Some(view) = damaged else { return Ok(None) };
    output.damage(view.verdict(), &subject(view.run(), views));
    Ok(error(view.run(), view.verdict()).map(|error| (view.run(), error)))
}

/// What a message calls a run.
fn subject(run: RunId, views: &[RunView]) -> String {
    match views {
        [_] => THIS_RUN.to_owned(),
        _ => format!("run {}", run.short(8)),
    }
}

/// Ends a command about runs of which one may be damaged; `known` is what was known of that before anything was read.
fn end(
    done: Result<Status, CliError>,
    known: Option<(RunId, CliError)>,
    views: &[RunView],
    output: &Output,
) -> Result<Status, CliError> {
    let runs: Vec<RunId> = views.iter().map(RunView::run).collect();
    let without_others = |error| without_others(error, &runs);
    // What was met comes before what was known: the first event is the one to name.
    let met = done.as_ref().err().and_then(|error| error.met.as_deref());
    if let Some((run, met)) = met
        && views.iter().any(|view| view.run() == *run && is_earlier(met, view))
    {
        let verdict = Verdict { from: Some(met.clone()), whole: None };
        output.damage(&verdict, &subject(*run, views));
        return done.map_err(without_others);
    }
    joined(done, known).map_err(without_others)
}

/// The result of a command, with the damage that was known before.
fn joined(
    done: Result<Status, CliError>,
    known: Option<(RunId, CliError)>,
) -> Result<Status, CliError> {
    match (done, known) {
        (done, None) => done,
        (Ok(_), Some((_, first))) => {
            first.print();
            Ok(Status::Difference)
        }
        // What is read further on may be damaged too: the first event is the one to name, and what is wrong with another run.
        (Err(error), Some((run, first)))
            if matches!(error.status, Status::Difference | Status::Io) =>
        {
            let is_elsewhere = !error.message.contains(&run.to_string());
            let message = error.message.clone();
            let first = first.hints_of(error);
            Err(if is_elsewhere { first.hint(message) } else { first })
        }
        // What is asked for may be what is missing.
        (Err(error), Some((_, first))) => {
            let hint = format!("damage may hide it: {}", first.message);
            Err(CliError { status: Status::Difference, ..error }.hint(hint).hints_of(first))
        }
    }
}

/// The error about a damaged run.
pub(crate) fn error(run: RunId, verdict: &Verdict) -> Option<CliError> {
    match verdict {
        Verdict { from: Some(Damage { seq, fault }), .. } => {
            Some(LogError::corrupt(run, *seq, fault.clone()).into())
        }
        Verdict { whole: Some(fault), .. } => {
            let error = CliError::new(Status::Difference, format!("run {run}: {fault}"));
            Some(error.hint(NAMES_DAMAGE))
        }
        _ => None,
    }
}

/// Refuses a damaged run: what is made from it is used elsewhere, without the log. `nothing` says what was not done.
pub(crate) fn sound(
    log: &Log,
    run: RunId,
    nothing: &str,
    output: &Output,
) -> Result<RunView, CliError> {
    let view = view(log, run)?;
    match say(std::slice::from_ref(&view), output)? {
        Some((_, error)) => Err(error.hint(nothing.to_owned())),
        None => Ok(view),
    }
}
