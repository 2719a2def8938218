//! The decisions that were accepted about one answer, found without reading whole runs.

use std::collections::BTreeSet;

use super::{AnswerDecision, DecisionJoin};
use crate::event::{DecisionMade, Event};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{Index, LogError, Reader, each_event_at};

/// The decisions that were accepted about the answer to a call of a run since, in the order in which they were accepted.
///
/// # Errors
/// [`LogError`] if the log cannot be read.
pub fn accepted_decisions(
    reader: &mut dyn Reader,
    run: RunId,
    (call, sample): (&CallPath, Sample),
) -> Result<Vec<AnswerDecision>, LogError> {
    let later = DecisionJoin::new(reader, run)?.later(reader)?;
    let mut found: Vec<AnswerDecision> = Vec::new();
    for accepted in later {
        let index = Index::open(reader, accepted)?;
        let mut questions = BTreeSet::new();
        let calls = index.calls(reader, call)?;
        each_event_at::<LogError>(reader, accepted, &calls, |event| {
            let is_it = event.call.as_ref() == Some(call) && event.sample == Some(sample);
            questions.extend(is_it.then_some(event.seq));
            Ok(())
        })?;
        let answers: BTreeSet<Seq> =
            index.caused_by(reader, &questions)?.into_values().flatten().collect();
        let decisions: BTreeSet<Seq> =
            index.caused_by(reader, &answers)?.into_values().flatten().collect();
        let decisions: Vec<Seq> = decisions.into_iter().collect();
        each_event_at::<LogError>(reader, accepted, &decisions, |event| {
            let (seq, time) = (event.seq, event.time);
            if let Event::DecisionMade(made) = event.event().map_err(LogError::from)? {
                found
                    .iter_mut()
                    .for_each(|earlier| earlier.in_force &= !made.replaces(&earlier.made));
                found.push(AnswerDecision { run: accepted, seq, time, made, in_force: true });
            }
            Ok(())
        })?;
    }
    Ok(found)
}

impl DecisionMade {
    /// Whether it takes the place of an earlier decision about the same answer: one with the same name about the same choice.
    pub fn replaces(&self, earlier: &DecisionMade) -> bool {
        let choice = |made: &DecisionMade| made.details.choice.unwrap_or(0);
        self.by.decides() == earlier.by.decides() && choice(self) == choice(earlier)
    }
}
