//! What runs of accepted decisions are about: a run, or accepted decisions about it, or accepted decisions about those.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::event::{DECISIONS, Event, RunStarted};
use crate::id::{RunId, Seq};
use crate::log::{LogError, Reader, event_at};
use crate::run::started;

/// The run whose answers a run of accepted decisions is about, which may have accepted decisions itself; `None` for any
/// other run.
pub fn decides_about(started: &RunStarted) -> Option<RunId> {
    let of = started.settings["of"]["run"].as_str()?;
    of.parse().ok().filter(|_| started.experiment == DECISIONS)
}

/// The same of a run in a log. The settings of other runs, which may be long, are not parsed.
///
/// # Errors
/// [`LogError`] if the run's first event cannot be read.
fn read_decides_about(reader: &mut dyn Reader, run: RunId) -> Result<Option<RunId>, LogError> {
    let first = reader.events(run, Seq(0), 1)?.pop();
    let body = first.and_then(|first| serde_json::from_str::<Value>(&first.body).ok());
    match body {
        Some(body) if body["experiment"] != DECISIONS => Ok(None),
        _ => Ok(decides_about(&started(reader, run)?)),
    }
}

/// The runs of accepted decisions about the answers of a run, in the order in which they were accepted. Those that were
/// accepted about such a run are among them, because its answers are those of this one.
///
/// # Errors
/// [`LogError`] if the runs of the log cannot be listed.
pub fn accepted_about(reader: &mut dyn Reader, of: RunId) -> Result<Vec<RunId>, LogError> {
    let mut about = BTreeMap::new();
    let heads = reader.runs()?;
    for head in &heads {
        // A damaged run is reported by commands that are about it.
        if let Ok(Some(other)) = read_decides_about(reader, head.run) {
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
    /// [`LogError`] if the run's first event cannot be read.
    pub(crate) fn from(reader: &mut dyn Reader, run: RunId) -> Result<Option<Self>, LogError> {
        let Some(mut of) = read_decides_about(reader, run)? else { return Ok(None) };
        let (mut between, mut passed) = (Vec::new(), BTreeSet::from([run]));
        // A damaged run is reported by commands that are about it.
        while let Ok(Some(next)) = read_decides_about(reader, of)
            && passed.insert(of)
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
