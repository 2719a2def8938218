//! Decisions that were made again by parsers, accepted as decisions about a run.

use crate::decide::{AnswerDecision, RevisedDecision};
use crate::event::{DecidedBy, DecisionDetails};
use crate::exchange::{AcceptedDecision, AcceptedRun};
use crate::id::RunId;
use crate::log::{EventFault, LogError, Reader};

/// Adds a decision that was made again about an answer of `of` to a run of accepted decisions, under a name.
///
/// # Errors
/// [`LogError`] if the request of the answer cannot be read.
pub fn accept_revised(
    accepted: &mut AcceptedRun,
    reader: &mut dyn Reader,
    (of, name): (RunId, &str),
    made: &RevisedDecision,
) -> Result<(), LogError> {
    let RevisedDecision { answer, by, now, .. } = made;
    let missing = EventFault::NoRequest { prompt: answer.prompt };
    let request = reader.request(answer.prompt)?;
    let request = request.ok_or_else(|| LogError::corrupt(of, answer.seq, missing))?;
    let AnswerDecision { method, value, reasoning, warnings, .. } = now.clone();
    let parser = serde_json::to_value(by).map_err(|e| LogError::failure("the parser", e))?;
    let name = (name != by.name).then(|| name.to_owned());
    let decision = AcceptedDecision {
        call: answer.call.clone(),
        sample: answer.sample,
        labels: answer.labels.clone(),
        content: answer.content.clone(),
        seq: answer.seq,
        beside: answer.beside.clone(),
        by: DecidedBy { name, method, parser },
        details: DecisionDetails {
            choice: answer.choice.among_several(),
            reasoning,
            value,
            warnings,
        },
    };
    accepted.decision(decision, request)
}

/// The name of a decision that was made again: that which the same parser's decision was given before, or the parser's.
pub fn revised_name(made: &RevisedDecision) -> &str {
    let RevisedDecision { answer, recorded, by, .. } = made;
    let is_same_parser = recorded.as_ref().is_some_and(|recorded| recorded.name == by.name);
    let known = answer.decision.as_ref().filter(|_| is_same_parser);
    known.and_then(|(_, made)| made.by.name.as_deref()).unwrap_or(&by.name)
}
