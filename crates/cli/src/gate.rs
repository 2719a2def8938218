//! The gate between runs and everything that shows them: a command is written as if logs were sound.
//!
//! A run is verified before anything of it is shown. If it is damaged, this is said first, the command gets a
//! [`RunView`] that ends before the damage, and the exit code is that of a difference.

use rayon::prelude::*;
use retold::id::RunId;
use retold::log::{Log, LogError};
use retold_archive::{Damage, RunView, Verdict, VerifyDepth, is_long};

use crate::error::{CliError, NAMES_DAMAGE, Status};
use crate::output::{Output, THIS_RUN};
use crate::progress;
use crate::select::RunSelection;
use retold_archive::user_cache;

/// Whether a long run is verified before a part of it is shown.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct UnverifiedArg {
    /// Skip the verification of a run of more than 100,000 events, which is otherwise done once until
    /// the log changes. Only the events that are read are checked.
    #[arg(long)]
    unverified: bool,
}

impl From<UnverifiedArg> for VerifyDepth {
    fn from(UnverifiedArg { unverified }: UnverifiedArg) -> Self {
        if unverified { VerifyDepth::AsRead } else { VerifyDepth::Whole }
    }
}

/// A run with the verdict about it; nothing is printed.
pub(crate) fn view(
    log: &Log,
    run: RunId,
    depth: VerifyDepth,
    output: &Output,
) -> Result<RunView, CliError> {
    let _shown = is_read_now(log, run)?.then(|| progress::verifying(output));
    let cache = user_cache();
    Ok(RunView::new(log.backend().clone(), run, depth, cache.as_deref(), output.elapsed())?)
}

/// The same of several runs, on all cores.
pub(crate) fn views(
    runs: &[(&Log, RunId)],
    depth: VerifyDepth,
    output: &Output,
) -> Result<Vec<RunView>, CliError> {
    let mut any_is_read_now = false;
    for (log, run) in runs {
        any_is_read_now |= is_read_now(log, *run)?;
    }
    let _shown = any_is_read_now.then(|| progress::verifying(output));
    let (cache, before) = (user_cache(), output.elapsed());
    let views = runs.par_iter().map(|(log, run)| {
        RunView::new(log.backend().clone(), *run, depth, cache.as_deref(), before)
    });
    // Of several that cannot be read, the first is named.
    let views: Vec<Result<RunView, LogError>> = views.collect();
    Ok(views.into_iter().collect::<Result<_, _>>()?)
}

/// Whether a run takes long to verify.
fn is_read_now(log: &Log, run: RunId) -> Result<bool, LogError> {
    Ok(log.backend().file().is_some() && is_long(log.reader()?.as_mut(), run))
}

/// Shows something of a run. If it was not verified and cannot be shown, it is verified after all, and what comes before
/// its damage is shown.
pub(crate) fn show_run(
    selected: &RunSelection,
    at_once: UnverifiedArg,
    output: &Output,
    work: impl Fn(&RunView) -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let view = |depth| view(&selected.log, selected.run, depth, output);
    let first = view(match selected.log.backend().checks_as_it_reads() {
        true => VerifyDepth::AsRead,
        false => at_once.into(),
    })?;
    let may_hide = |error: &CliError| match first.is_checked_as_read() {
        true => error.status == Status::Difference,
        false => first.unverified_end().is_some(),
    };
    match through(std::slice::from_ref(&first), output, || work(&first)) {
        Err(error) if may_hide(&error) => {
            let verified = view(VerifyDepth::Whole)?;
            match verified.verdict().is_damaged() {
                true => through(std::slice::from_ref(&verified), output, || work(&verified)),
                false => Err(error),
            }
        }
        done => done,
    }
}

/// Shows something of runs: each is read up to its damage, where reading on is an error.
pub(crate) fn show_runs<const N: usize>(
    runs: [RunSelection; N],
    output: &Output,
    work: impl FnOnce([RunSelection; N]) -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let named = runs.each_ref().map(|of| (&of.log, of.run));
    let views = views(&named, VerifyDepth::Whole, output)?;
    let mut ends = views.iter();
    let up_to_damage = runs.map(|run| ends.next().map_or(run, RunSelection::up_to_damage));
    through(&views, output, || work(up_to_damage))
}

/// Shows something of runs that were looked at.
pub(crate) fn through(
    views: &[RunView],
    output: &Output,
    work: impl FnOnce() -> Result<Status, CliError>,
) -> Result<Status, CliError> {
    let error = say(views, output)?;
    let runs: Vec<RunId> = views.iter().map(RunView::run).collect();
    end(work(), error).map_err(|error| without_others(error, &runs))
}

/// Says how to do without a damaged run if it is another one, on which what was asked for depends: one of decisions that were
/// accepted about these, say.
pub(crate) fn without_others(error: CliError, runs: &[RunId]) -> CliError {
    let Some(other) = error.damaged_run.filter(|other| !runs.contains(other)) else { return error };
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
    if let Some(last) = views.iter().find_map(RunView::unverified_end) {
        output.not_verified(last);
    }
    match damaged {
        Some(view) => {
            let subject = match views.len() {
                1 => THIS_RUN.to_owned(),
                _ => format!("run {}", view.run().short(8)),
            };
            output.verdict(view.verdict(), &subject)?;
            Ok(error(view.run(), view.verdict()).map(|error| (view.run(), error)))
        }
        None => Ok(None),
    }
}

/// Ends a command about runs of which one may be damaged.
fn end(
    done: Result<Status, CliError>,
    first: Option<(RunId, CliError)>,
) -> Result<Status, CliError> {
    match (done, first) {
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
    let view = view(log, run, VerifyDepth::Whole, output)?;
    match say(std::slice::from_ref(&view), output)? {
        Some((_, error)) => Err(error.hint(nothing.to_owned())),
        None => Ok(view),
    }
}
