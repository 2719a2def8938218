//! What runs of accepted decisions are about: a run, or accepted decisions about it, or accepted decisions about those.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::event::{DECISIONS, Event, RunStarted};
use crate::id::{RunId, Seq};
use crate::log::{LogError, Reader, event_at};
use crate::run::run_start;

/// The run whose answers a run of accepted decisions is about, which may have accepted decisions itself; `None` for any
/// other run.
pub fn decides_about(started: &RunStarted) -> Option<RunId> {
    let of = started.settings["of"]["run"].as_str()?;
    of.parse().ok().filter(|_| started.experiment == DECISIONS)
}

/// The same of a run in a log. The settings of other runs, which may be long, are not parsed. Where the first event is
/// damaged, the first answer says whose answers these are.
///
/// # Errors
/// [`LogError`] if the run cannot be read for another reason than damage, or is not in the log.
pub(super) fn read_decides_about(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Option<RunId>, LogError> {
    match from_first_event(reader, run) {
        Err(LogError::Corrupt { .. }) => Ok(from_first_answer(reader, run)),
        read => read,
    }
}

fn from_first_event(reader: &mut dyn Reader, run: RunId) -> Result<Option<RunId>, LogError> {
    let first = reader.events(run, Seq(0), 1)?.pop();
    let body = first.and_then(|first| serde_json::from_str::<Value>(&first.body).ok());
    match body {
        Some(body) if body["experiment"] != DECISIONS => Ok(None),
        _ => Ok(decides_about(&run_start(reader, run)?)),
    }
}

/// A run of accepted decisions begins with a question and with an answer of another run.
fn from_first_answer(reader: &mut dyn Reader, run: RunId) -> Option<RunId> {
    let third = event_at(reader, run, Seq(3)).ok().flatten()?;
    match third.event().ok()? {
        Event::AnswerReused(reused) if reused.from_run != run => Some(reused.from_run),
        _ => None,
    }
}

/// The runs of accepted decisions about the answers of a run, in the order in which they were accepted. Those that were
/// accepted about such a run are among them, because its answers are those of this one. Damaged ones are among them, too, so
/// that whoever reads them meets the damage.
///
/// # Errors
/// [`LogError`] if the runs of the log cannot be listed, or read for another reason than damage.
pub fn accepted_about(reader: &mut dyn Reader, of: RunId) -> Result<Vec<RunId>, LogError> {
    let mut about = BTreeMap::new();
    let heads = reader.runs()?;
    for head in &heads {
        if let Some(other) = read_decides_about(reader, head.run)? {
            about.insert(head.run, other);
        }
    }
    let leads_there = |run: &RunId| {
        let chain = std::iter::successors(about.get(run), |run| about.get(run));
        // A crafted log may name runs in a circle.
        chain.take(about.len()).any(|run| *run == of)
    };
    Ok(heads.iter().map(|head| head.run).filter(leads_there).collect())
}

/// The next run of a chain; `None` if this one is its end, or is not in the log.
fn next_in_chain(reader: &mut dyn Reader, run: RunId) -> Result<Option<RunId>, LogError> {
    match read_decides_about(reader, run) {
        Err(LogError::NoSuchRun { .. }) => Ok(None),
        read => read,
    }
}

/// The way from a run of accepted decisions to the run whose answers it is about.
#[derive(Debug, Clone)]
pub(crate) struct AcceptedChain {
    /// The runs of accepted decisions in between, the nearest first.
    between: Vec<RunId>,
    /// The run at its end.
    pub(crate) of: RunId,
}

impl AcceptedChain {
    /// That of a run of accepted decisions; `None` for any other run. If a run of the chain is not in the log, the chain ends
    /// there.
    ///
    /// # Errors
    /// [`LogError`] if a run of the chain cannot be read for another reason than damage, or this one is not in the log.
    pub(crate) fn from(reader: &mut dyn Reader, run: RunId) -> Result<Option<Self>, LogError> {
        let Some(mut of) = read_decides_about(reader, run)? else { return Ok(None) };
        let (mut between, mut passed) = (Vec::new(), BTreeSet::from([run]));
        while passed.insert(of)
            && let Some(next) = next_in_chain(reader, of)?
        {
            between.push(of);
            of = next;
        }
        Ok(Some(AcceptedChain { between, of }))
    }

    /// The answer in the run at its end that an accepted decision is about, from where the decision's own run took the
    /// answer. `None` if a run in between does not have it.
    ///
    /// # Errors
    /// [`LogError`] if an event cannot be read.
    pub(crate) fn answer(
        &self,
        reader: &mut dyn Reader,
        from: Seq,
    ) -> Result<Option<Seq>, LogError> {
        let mut seq = from;
        for run in &self.between {
            let event = event_at(reader, *run, seq)?.map(|event| event.event());
            match event.transpose().map_err(LogError::from)? {
                Some(Event::AnswerReused(reused)) => seq = reused.from_seq,
                _ => return Ok(None),
            }
        }
        Ok(Some(seq))
    }
}
