//! The decisions that were accepted about the answers of a run since it was recorded.

use std::collections::{BTreeMap, VecDeque};

use super::{DecisionJoin, JoinedDecision};
use crate::id::{RunId, Seq};
use crate::log::{LogError, Reader, RunEvents};

/// A decision about an answer of a run: recorded in the run, or accepted since in a run of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionAbout {
    /// The run that the decision is in.
    pub run: RunId,
    /// The answer, in the run that was asked about.
    pub answer: Seq,
    /// The decision, with its question in the run that it is in.
    pub joined: JoinedDecision,
}

/// The decisions that were accepted about the answers of a run, in the order in which they were accepted.
/// Those about an answer that is not known are left out.
pub struct DecisionsSince {
    later: VecDeque<RunId>,
    /// For a run of accepted decisions: its answers, by those that they were taken from in the end.
    own: BTreeMap<Seq, Seq>,
    reading: Option<(RunId, DecisionJoin, RunEvents)>,
}

impl DecisionsSince {
    pub(super) fn new(later: Vec<RunId>, own: BTreeMap<Seq, Seq>) -> Self {
        DecisionsSince { later: later.into(), own, reading: None }
    }

    /// The next one; `None` after the last.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read, or a run of accepted decisions is damaged.
    pub fn next(&mut self, reader: &mut dyn Reader) -> Result<Option<DecisionAbout>, LogError> {
        loop {
            let (run, join, events) = match &mut self.reading {
                Some(reading) => reading,
                None => {
                    let Some(run) = self.later.pop_front() else { return Ok(None) };
                    let join = DecisionJoin::new(reader, run)?;
                    self.reading.insert((run, join, RunEvents::new(run)))
                }
            };
            let Some(event) = events.next(reader)? else {
                self.reading = None;
                continue;
            };
            if let Some(joined) = join.decision(reader, &event)?
                && let Some(original) = joined.accepted_as
            {
                let answer = self.own.get(&original).copied().unwrap_or(original);
                return Ok(Some(DecisionAbout { run: *run, answer, joined }));
            }
        }
    }
}
