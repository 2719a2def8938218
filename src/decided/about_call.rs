//! The decisions about the answers to single calls, found without reading whole runs.

use std::collections::BTreeSet;

use super::{AnswerDecision, DecisionJoin};
use crate::event::{DecisionMade, Event};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{Index, LogError, Reader, each_event_at};

/// Finds the decisions about the answers to single calls of a run: those of the run itself, and those that were accepted since.
#[derive(Debug)]
pub struct CallDecisions {
    /// The run, then those of accepted decisions in the order in which they were accepted.
    runs: Vec<(RunId, Index)>,
}

impl CallDecisions {
    /// For the calls of a run.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn open(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let later = DecisionJoin::new(reader, run)?.later(reader)?;
        let mut runs = Vec::new();
        for run in std::iter::once(run).chain(later) {
            runs.push((run, Index::open(reader, run)?));
        }
        Ok(CallDecisions { runs })
    }

    /// All decisions about the answer to a call, each in force or not: those of the run, then those that were accepted since.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn about(
        &self,
        reader: &mut dyn Reader,
        (call, sample): (&CallPath, Sample),
    ) -> Result<Vec<AnswerDecision>, LogError> {
        let mut found: Vec<AnswerDecision> = Vec::new();
        for (run, index) in &self.runs {
            let run = *run;
            let mut questions = BTreeSet::new();
            let calls = index.calls(reader, call)?;
            each_event_at::<LogError>(reader, run, &calls, |event| {
                let is_it = event.is_question()
                    && event.call.as_ref() == Some(call)
                    && event.sample == Some(sample);
                questions.extend(is_it.then_some(event.seq));
                Ok(())
            })?;
            let answers: BTreeSet<Seq> =
                index.caused_by(reader, &questions)?.into_values().flatten().collect();
            let decisions: BTreeSet<Seq> =
                index.caused_by(reader, &answers)?.into_values().flatten().collect();
            let decisions: Vec<Seq> = decisions.into_iter().collect();
            each_event_at::<LogError>(reader, run, &decisions, |event| {
                let (seq, time) = (event.seq, event.time);
                if let Event::DecisionMade(made) = event.event().map_err(LogError::from)? {
                    let replaced = found.iter_mut().filter(|it| made.replaces(&it.made));
                    replaced.for_each(|earlier| earlier.in_force = false);
                    found.push(AnswerDecision { run, seq, time, made, in_force: true });
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

impl DecisionMade {
    /// Its name, and the number of the choice that it is about: of several decisions about one answer with the same, the last is
    /// in force.
    pub fn subject(&self) -> (&str, u32) {
        (self.by.decides(), self.details.choice.unwrap_or(0))
    }

    /// Whether it takes the place of an earlier decision about the same answer.
    fn replaces(&self, earlier: &DecisionMade) -> bool {
        self.subject() == earlier.subject()
    }
}
