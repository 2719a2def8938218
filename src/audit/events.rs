//! The question that a target comes from.

use std::collections::BTreeSet;

use super::error::AuditError;
use super::origin::event_at;
use super::target::{Target, has_parts_of};
use crate::event::{Event, StoredEvent};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{Index, LogError, Reader, RunEvents, each_event_at};

/// The question that the target comes from.
pub(super) fn question(
    reader: &mut dyn Reader,
    run: RunId,
    index: &Index,
    target: &Target,
) -> Result<StoredEvent, AuditError> {
    let found = match target {
        Target::Seq(seq) => question_behind(reader, run, *seq)?,
        Target::Call(call, sample) => {
            let mut questions = questions(reader, run, index, call)?;
            match (sample, samples(&questions)) {
                (Some(sample), _) => questions.into_iter().rfind(|e| e.sample == Some(*sample)),
                (None, Some((first, last))) if first != last => {
                    let spelt = questions.pop().and_then(|e| e.call);
                    let call = spelt.unwrap_or_else(|| call.clone());
                    return Err(AuditError::ManySamples { call, first, last });
                }
                (None, _) => questions.pop(),
            }
        }
    };
    match found {
        Some(event) => Ok(event),
        None => Err(not_found(reader, run, index, target)?),
    }
}

/// The question that an event comes from: of a decision, by its answer; of a fact, by the first of its causes that
/// comes from one. `None` if there is no such event, or if it is neither a fact nor part of an exchange.
///
/// # Errors
/// [`AuditError`]: a fact that rests on no answer, or the log cannot be read.
pub fn question_behind(
    reader: &mut dyn Reader,
    run: RunId,
    seq: Seq,
) -> Result<Option<StoredEvent>, AuditError> {
    let (mut due, mut seen) = (vec![seq], BTreeSet::new());
    let (mut is_fact, mut rests_on_draws) = (false, false);
    while let Some(at) = due.pop() {
        let Some(found) = event_at(reader, run, at)? else { continue };
        if found.is_question() {
            return Ok(Some(found));
        }
        let causes = match found.event().map_err(LogError::from)? {
            Event::Occurred(fact) => {
                is_fact |= at == seq;
                fact.causes
            }
            Event::RunStarted(_) => {
                rests_on_draws |= at != seq;
                Vec::new()
            }
            _ => found.cause.into_iter().collect(),
        };
        // A damaged log could contain a cycle.
        let earlier = causes.into_iter().filter(|cause| *cause < at && seen.insert(*cause));
        let earlier: Vec<Seq> = earlier.collect();
        due.extend(earlier.into_iter().rev());
    }
    match is_fact {
        true => Err(AuditError::NoPrompt { run, seq, rests_on_draws }),
        false => Ok(None),
    }
}

/// The questions of the call as given, or else of the only call with the same parts in another
/// order. A question that was asked again after a crash comes last.
fn questions(
    reader: &mut dyn Reader,
    run: RunId,
    index: &Index,
    call: &CallPath,
) -> Result<Vec<StoredEvent>, LogError> {
    let maybe = index.calls(reader, call)?;
    let mut found = Vec::new();
    each_event_at::<LogError>(reader, run, &maybe, |event| {
        let is_alike = event.call.as_ref().is_some_and(|c| has_parts_of(c, call));
        found.extend(Some(event).filter(|_| is_alike));
        Ok(())
    })?;
    let spellings: BTreeSet<CallPath> = found.iter().filter_map(|e| e.call.clone()).collect();
    match spellings.first() {
        Some(only) if spellings.len() == 1 && only != call => {}
        _ => found.retain(|e| e.call.as_ref() == Some(call)),
    }
    Ok(found)
}

/// The first and the last sample.
fn samples(questions: &[StoredEvent]) -> Option<(Sample, Sample)> {
    let samples = || questions.iter().filter_map(|e| e.sample);
    samples().min().zip(samples().max())
}

/// The error for a decision that does not exist.
pub(super) fn not_found(
    reader: &mut dyn Reader,
    run: RunId,
    index: &Index,
    target: &Target,
) -> Result<AuditError, LogError> {
    let wanted = match target {
        Target::Seq(seq) => format!("at seq {seq}"),
        Target::Call(call, Some(sample)) => format!("{call}#{sample}"),
        Target::Call(call, None) => call.to_string(),
    };
    let there = match target {
        Target::Call(call, Some(_)) => {
            let mut questions = questions(reader, run, index, call)?;
            questions.retain(|e| e.call.as_ref() == Some(call));
            samples(&questions).map(|(first, last)| (call, first, last))
        }
        _ => None,
    };
    let nearest = match there {
        Some((call, first, last)) => format!("; the samples of {call} are {first} to {last}"),
        None => match first_call(reader, run)? {
            Some((call, sample)) => format!("; its decisions have names like {call}#{sample}"),
            None => "; it has no calls at all".to_owned(),
        },
    };
    Ok(AuditError::NotFound { run, wanted, nearest })
}

fn first_call(reader: &mut dyn Reader, run: RunId) -> Result<Option<(CallPath, Sample)>, LogError> {
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        if let Some(found) = event.call.zip(event.sample) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
