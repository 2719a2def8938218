//! The decisions about each answer of a run, for what is written answer by answer.

use std::collections::BTreeMap;

use super::DecisionJoin;
use crate::event::{DecisionMade, Event};
use crate::id::{RunId, Seq, Time};
use crate::log::{LogError, Reader, RunEvents, event_at};

/// A decision about an answer that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerDecision {
    /// Its seq.
    pub seq: Seq,
    /// When it was made.
    pub time: Time,
    /// The decision.
    pub made: DecisionMade,
    /// Whether no accepted decision has replaced it.
    pub in_force: bool,
}

/// Where the decisions about each answer of a run are. A decision may come long after its answer, so that the run is read
/// once before, and a few bytes are kept for each decision.
#[derive(Debug, Clone, Default)]
pub struct DecidedAnswers {
    by_answer: BTreeMap<Seq, Vec<(Seq, bool)>>,
}

impl DecidedAnswers {
    /// Those of a run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut all = DecidedAnswers::default();
        let mut join = DecisionJoin::new(reader, run)?;
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            if let Some(decision) = join.decision(reader, &stored)? {
                let of_answer = all.by_answer.entry(decision.made.response).or_default();
                of_answer.push((decision.seq, decision.in_force));
            }
        }
        Ok(all)
    }

    /// The decisions about an answer, in their order.
    ///
    /// # Errors
    /// [`LogError`] if one of them cannot be read.
    pub fn about(
        &self,
        reader: &mut dyn Reader,
        run: RunId,
        answer: Seq,
    ) -> Result<Vec<AnswerDecision>, LogError> {
        let mut decisions = Vec::new();
        for (seq, in_force) in self.by_answer.get(&answer).into_iter().flatten() {
            let Some(found) = event_at(reader, run, *seq)? else { continue };
            let time = found.time;
            if let Event::DecisionMade(made) = found.event().map_err(LogError::from)? {
                decisions.push(AnswerDecision { seq: *seq, time, made, in_force: *in_force });
            }
        }
        Ok(decisions)
    }
}
