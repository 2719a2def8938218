//! The batches of a run, as a fold over its events.

use std::collections::{BTreeMap, BTreeSet};

use super::news::WaitingBatch;
use crate::event::kind::BATCH_PLANNED;
use crate::event::{
    BatchCollected, BatchEnded, BatchPlanned, BatchSeen, BatchStep, BatchSubmitted, Event,
};
use crate::id::{ContentHash, PromptHash, RunId, Seq, Time};
use crate::log::{Index, LogError, Reader, RunEvents};
use crate::model::FailureKind;

/// A batch of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunBatch {
    /// What it asks, and where.
    pub planned: BatchPlanned,
    /// When it was planned.
    pub planned_at: Time,
    /// The server's id of its file.
    pub file: Option<String>,
    /// The server's id of it.
    pub submitted: Option<BatchSubmitted>,
    /// What the server said last.
    pub seen: Option<BatchSeen>,
    /// How it ended, and when that was seen.
    pub ended: Option<(BatchEnded, Time)>,
    /// What it came to.
    pub collected: Option<BatchCollected>,
    /// The lines that have been read, with the hash of each answer; `None` of a failure. Kept until it is collected.
    pub(super) read: BTreeMap<Seq, Option<ContentHash>>,
}

impl RunBatch {
    pub(super) fn new(planned: BatchPlanned, planned_at: Time) -> Self {
        RunBatch {
            planned,
            planned_at,
            file: None,
            submitted: None,
            seen: None,
            ended: None,
            collected: None,
            read: BTreeMap::new(),
        }
    }

    /// What people are shown of it.
    pub fn as_waiting(&self) -> WaitingBatch {
        let BatchPlanned { number, server, model, .. } = &self.planned;
        let status = match (&self.ended, &self.seen, &self.submitted) {
            (Some((ended, _)), ..) => ended.status.clone(),
            (_, Some(seen), _) => seen.status.clone(),
            (_, _, Some(_)) => "submitted".to_owned(),
            _ => "planned".to_owned(),
        };
        WaitingBatch {
            number: *number,
            server: server.clone(),
            model: model.clone(),
            id: self.submitted.as_ref().map(|submitted| submitted.id.clone()),
            status,
            done: self.seen.as_ref().map_or(0, |seen| seen.done),
            lines: self.planned.lines(),
            expires: self.submitted.as_ref().and_then(|submitted| submitted.expires),
        }
    }

    /// Takes the next step.
    pub(super) fn take(&mut self, step: BatchStep, time: Time) {
        match step {
            BatchStep::Planned(_) => {}
            BatchStep::Uploaded(uploaded) => self.file = Some(uploaded.file),
            BatchStep::Submitted(submitted) => self.submitted = Some(submitted),
            BatchStep::Seen(seen) => self.seen = Some(seen),
            BatchStep::Ended(ended) => self.ended = Some((ended, time)),
            BatchStep::Collected(collected) => {
                self.collected = Some(collected);
                self.read.clear();
            }
        }
    }
}

/// How often the lines of a question failed so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineFailures {
    /// Attempts in batches.
    pub attempts: u32,
    /// The most lines that its next batch may have, if the last one expired.
    pub most_lines: Option<u64>,
}

/// The batches of a run, and what is to be known of the questions that it holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunBatches {
    /// In the order of their numbers.
    pub batches: Vec<RunBatch>,
    /// Of questions that failed in a batch and were not answered since.
    pub(super) failures: BTreeMap<Seq, LineFailures>,
    /// The prompts of the questions that have no answer.
    pub(super) prompts: BTreeMap<Seq, PromptHash>,
}

impl RunBatches {
    /// Reads them.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut all = RunBatches::default();
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            if let Some((_, _, prompt)) = stored.address_and_prompt() {
                all.prompts.insert(stored.seq, prompt);
                continue;
            }
            if stored.is_decision() || stored.is_occurrence() {
                continue;
            }
            match stored.event()? {
                Event::Batch(BatchStep::Planned(planned)) => {
                    all.batches.push(RunBatch::new(planned, stored.time));
                }
                Event::Batch(step) => {
                    if let Some(batch) = all.get_mut(step.number()) {
                        batch.take(step, stored.time);
                    }
                }
                Event::ResponseReceived(answer) => {
                    all.failures.remove(&answer.request);
                    all.prompts.remove(&answer.request);
                    let hash = answer.content.hash();
                    if let Some(batch) = answer.details.batch.and_then(|n| all.get_mut(n)) {
                        batch.read.insert(answer.request, Some(hash));
                    }
                }
                Event::AnswerReused(answer) => {
                    all.prompts.remove(&answer.request);
                }
                Event::AttemptFailed(failed) => {
                    let Some(number) = failed.details.batch else { continue };
                    let expired = failed.details.failure == FailureKind::Unanswered.as_str();
                    let lines = match all.get_mut(number) {
                        Some(batch) => {
                            batch.read.insert(failed.request, None);
                            batch.planned.lines()
                        }
                        None => 0,
                    };
                    all.fail(failed.request, expired.then_some(lines));
                }
                _ => {}
            }
        }
        Ok(all)
    }

    /// Whether a run has batches that are not collected.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub fn are_open(reader: &mut dyn Reader, run: RunId) -> Result<bool, LogError> {
        let census = Index::open(reader, run)?.census(reader)?;
        // Most runs have none, and need not be read.
        let has_any = census.events.contains_key(BATCH_PLANNED);
        Ok(has_any && RunBatches::read(reader, run)?.open().next().is_some())
    }

    /// Those that are not collected.
    pub fn open(&self) -> impl Iterator<Item = &RunBatch> {
        self.batches.iter().filter(|batch| batch.collected.is_none())
    }

    /// The questions that they have and that are not collected.
    pub(super) fn questions(&self) -> BTreeSet<Seq> {
        self.open().flat_map(|batch| batch.planned.questions()).collect()
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut RunBatch> {
        self.batches.iter_mut().find(|batch| batch.planned.number == number)
    }

    /// A line of a question failed; `expired` is how many lines its batch had, if it was not worked on.
    pub(super) fn fail(&mut self, question: Seq, expired: Option<u64>) {
        let failures = self.failures.entry(question).or_default();
        failures.attempts += 1;
        failures.most_lines = expired.map(|lines| (lines / 2).max(1)).or(failures.most_lines);
    }
}
