//! Whether a run came to its end, and whether somebody knew of its results before.

use retold::counted::group_digits;
use retold::event::{Event, RunOutcome, RunStarted};
use retold::exchange::decides_about;
use retold::id::{RunId, Seq, Time};
use retold::log::{LogError, Reader, RunHead};

use crate::deviation::{Deviation, DeviationKind};

/// The end of a run, if it has one.
struct RunEnd {
    outcome: RunOutcome,
    seq: Seq,
    time: Time,
}

/// What is not as planned about the end of a run. `others` are the other runs of the log with their beginnings.
///
/// # Errors
/// [`LogError`] if the log cannot be read.
pub(crate) fn end_deviations(
    reader: &mut dyn Reader,
    head: &RunHead,
    others: &[(RunHead, RunStarted)],
) -> Result<Vec<Deviation>, LogError> {
    let end = run_end(reader, head)?;
    let early = match &end {
        None => Some("the run has no end".to_owned()),
        Some(RunEnd { outcome: RunOutcome::Finished, .. }) => None,
        Some(RunEnd { outcome, .. }) => Some(format!("the run was {}", outcome.as_str())),
    };
    let early = early.map(|how| Deviation::new(DeviationKind::StoppedEarly, how));
    let looks = others.iter().filter_map(|(other, started)| {
        let how = look(head.run, end.as_ref(), other, started)?;
        Some(Deviation::new(DeviationKind::LookedBeforeEnd, how))
    });
    Ok(early.into_iter().chain(looks).collect())
}

fn run_end(reader: &mut dyn Reader, head: &RunHead) -> Result<Option<RunEnd>, LogError> {
    let seq = head.head.seq;
    let last = reader.events(head.run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
    let Some(last) = last else { return Ok(None) };
    Ok(match last.event()? {
        Event::RunFinished(finished) => {
            Some(RunEnd { outcome: finished.outcome, seq, time: last.time })
        }
        _ => None,
    })
}

/// How another run shows that somebody worked with the results of this one before its end.
fn look(run: RunId, end: Option<&RunEnd>, other: &RunHead, started: &RunStarted) -> Option<String> {
    let name = other.run.short(8);
    if decides_about(started) == Some(run) {
        let until = started.settings["of"]["seq"].as_u64()?;
        let is_early = end.is_none_or(|end| until < end.seq.0);
        let until = group_digits(until);
        return is_early.then(|| {
            format!("decisions about its first {until} events were accepted, in run {name}")
        });
    }
    let is_fork = started.forked_from.is_some_and(|forked| forked.run == run);
    let is_early = end.is_none_or(|end| other.started < end.time);
    (is_fork && is_early).then(|| format!("run {name} was forked from it"))
}
