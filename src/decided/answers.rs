//! The decisions about each answer of a run, for output that is written answer by answer.

use std::collections::BTreeMap;

use super::{DecisionAbout, decisions_about};
use crate::event::{DecisionMade, Event};
use crate::id::{RunId, Seq, Time};
use crate::log::{LogError, Reader, event_at};

/// A decision about an answer that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerDecision {
    /// The run that it is in: that of the answer, or one of accepted decisions.
    pub run: RunId,
    /// Its seq there.
    pub seq: Seq,
    /// When it was made.
    pub time: Time,
    /// The decision.
    pub made: DecisionMade,
    /// Whether no accepted decision has replaced it.
    pub in_force: bool,
}

/// Where the decisions about each answer of a run are, those that were accepted since among them. A decision may come long
/// after its answer, so that the run is read once before, and a few bytes are kept for each decision.
#[derive(Debug, Clone, Default)]
pub struct DecidedAnswers {
    by_answer: BTreeMap<Seq, Vec<DecisionAddress>>,
}

/// Where a decision is, and whether it is in force.
#[derive(Debug, Clone, Copy)]
struct DecisionAddress {
    run: RunId,
    seq: Seq,
    in_force: bool,
}

impl DecidedAnswers {
    /// Those of a run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read, or one of accepted decisions about its answers.
    pub fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut all = DecidedAnswers::default();
        decisions_about(reader, run, |about| {
            let DecisionAbout { run, answer, joined } = about;
            let address = DecisionAddress { run, seq: joined.seq, in_force: joined.in_force };
            all.by_answer.entry(answer).or_default().push(address);
        })?;
        Ok(all)
    }

    /// The decisions about an answer: those of the run in their order, then those that were accepted since.
    ///
    /// # Errors
    /// [`LogError`] if one of them cannot be read.
    pub fn about(
        &self,
        reader: &mut dyn Reader,
        answer: Seq,
    ) -> Result<Vec<AnswerDecision>, LogError> {
        let mut decisions = Vec::new();
        for DecisionAddress { run, seq, in_force } in
            self.by_answer.get(&answer).into_iter().flatten().copied()
        {
            let Some(found) = event_at(reader, run, seq)? else { continue };
            let time = found.time;
            if let Event::DecisionMade(made) = found.event().map_err(LogError::from)? {
                decisions.push(AnswerDecision { run, seq, time, made, in_force });
            }
        }
        Ok(decisions)
    }
}
