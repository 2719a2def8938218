//! Brings every batch of a run as far as it goes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::error::BatchError;
use super::lines::request_of;
use super::news::{BatchNews, WaitingBatch};
use super::plan::plan;
use super::run_batches::{RunBatch, RunBatches};
use super::submit::{Doubt, failed};
use crate::event::{BatchCollected, BatchEnded, BatchSeen, BatchStep};
use crate::id::{RunId, Seq};
use crate::log::{Log, Reader, event_at};
use crate::model::openai::batches::{BatchPhase, BatchReport};
use crate::model::{Batching, Failure, FailureKind, Model};
use crate::run::{Recorder, Signal, clock};
use crate::scratch_folder::ScratchFolder;

/// The batches that are to be settled.
#[derive(Clone, Copy)]
pub struct BatchesOf<'a> {
    /// The log.
    pub log: &'a Log,
    /// The run.
    pub run: RunId,
    /// The model, whose servers have the batches.
    pub model: &'a dyn Model,
    /// How long it is waited between two looks at a batch.
    pub poll: Duration,
    /// Whether it is waited until all have ended.
    pub waits: bool,
    /// Whether what is held and in no batch is put into one.
    pub plans: bool,
    /// Ends the wait.
    pub signal: &'a Signal,
}

/// How far the batches of a run are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// Whatever was held is answered, has failed, or is to be held again. These models want another name for `max_tokens`, see
    /// [`LIMIT`](crate::model::LIMIT).
    Collected(BTreeSet<String>),
    /// These have not ended.
    Waiting(Vec<WaitingBatch>),
}

/// How often in a row a server may fail to be asked.
const MOST_FAILURES: u32 = 10;

/// How much of a batch, as a part of ten, must have ended since an event said how much, so that another one does.
const PARTS: u64 = 10;

/// Plans the questions that are held ([`ExecutionResult::held`](crate::run::ExecutionResult::held)) and that no batch has, submits what
/// is not submitted, and records what has been answered.
///
/// # Errors
/// [`BatchError`].
pub async fn settle(
    of: BatchesOf<'_>,
    held: &[Seq],
    tell: &mut dyn FnMut(&BatchNews<'_>),
) -> Result<Settled, BatchError> {
    let mut batches = RunBatches::read(of.log.reader()?.as_mut(), of.run)?;
    let recorder = Recorder::go_on(of.log, of.run)?;
    let folder = ScratchFolder::make()?;
    let (has, mut reader) = (batches.questions(), of.log.reader()?);
    let new = held.iter().copied().filter(|question| of.plans && !has.contains(question));
    let plan = plan(reader.as_mut(), of.run, of.model, new, &batches, folder.path())?;
    let open = std::mem::take(&mut batches.batches);
    let mut work = BatchWork {
        of,
        recorder,
        reader,
        batches,
        doubts: BTreeMap::new(),
        lines: BTreeMap::new(),
        limit_names: BTreeSet::new(),
        seen: BTreeSet::new(),
        folder,
        tell,
    };
    for (question, failure) in plan.inexpressible {
        work.recorder.record_failure(question, 0, &failure, true, None)?.1.wait().await?;
    }
    let mut all = open;
    for (planned, lines) in plan.batches {
        work.doubts.insert(planned.number, Doubt::None);
        work.lines.insert(planned.number, lines);
        let mut batch = RunBatch::new(planned.clone(), clock::now());
        work.take(&mut batch, BatchStep::Planned(planned)).await?;
        all.push(batch);
    }
    work.go(&mut all).await
}

/// Whether a batch came further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progressed {
    Further,
    /// There is nothing to do until the server has done something.
    Waits,
}

/// What is needed to settle batches.
pub(super) struct BatchWork<'a> {
    pub(super) of: BatchesOf<'a>,
    pub(super) recorder: Recorder,
    pub(super) reader: Box<dyn Reader>,
    /// What is known of the questions.
    pub(super) batches: RunBatches,
    /// What is not known of batches that were planned or sent by this process, by number.
    pub(super) doubts: BTreeMap<u64, Doubt>,
    /// The files of lines that are on this machine.
    pub(super) lines: BTreeMap<u64, PathBuf>,
    pub(super) limit_names: BTreeSet<String>,
    /// The batches that this process has looked at.
    seen: BTreeSet<u64>,
    pub(super) folder: ScratchFolder,
    tell: &'a mut dyn FnMut(&BatchNews<'_>),
}

impl BatchWork<'_> {
    async fn go(mut self, all: &mut [RunBatch]) -> Result<Settled, BatchError> {
        let mut failures = 0;
        loop {
            let mut trouble = None;
            for at in 0..all.len() {
                // A batch that was submitted again has the ids of lines that others had.
                let ids = |batch: &RunBatch| Some(batch.submitted.as_ref()?.id.clone());
                let others: Vec<String> = all.iter().filter_map(ids).collect();
                let Some(batch) = all.get_mut(at).filter(|batch| batch.collected.is_none()) else {
                    continue;
                };
                match self.advance(batch, others).await {
                    Ok(()) => {}
                    Err(BatchError::Server { server, failure }) if may_pass(&failure) => {
                        trouble = Some((server, failure));
                    }
                    Err(error) => return Err(error),
                }
            }
            failures = if trouble.is_some() { failures + 1 } else { 0 };
            if failures >= MOST_FAILURES
                && let Some((server, failure)) = trouble
            {
                return Err(BatchError::Server { server, failure });
            }
            let open = all.iter().filter(|batch| batch.collected.is_none());
            let open: Vec<WaitingBatch> = open.map(RunBatch::as_waiting).collect();
            if open.is_empty() {
                return Ok(Settled::Collected(self.limit_names));
            }
            let wait = match &trouble {
                Some((server, failure)) => {
                    let wait = Duration::from_secs(1 << failures.min(6)).min(self.of.poll);
                    let wait = failure.retry_after.unwrap_or(wait).min(self.of.poll).max(wait);
                    (self.tell)(&BatchNews::Trouble { server, failure, wait });
                    wait
                }
                None if !self.of.waits => return Ok(Settled::Waiting(open)),
                None => self.of.poll,
            };
            if self.of.signal.pause(wait).await {
                return Ok(Settled::Waiting(open));
            }
        }
    }

    /// Brings a batch as far as it goes.
    async fn advance(
        &mut self,
        batch: &mut RunBatch,
        others: Vec<String>,
    ) -> Result<(), BatchError> {
        let batching = batching_of(self.of.log.reader()?.as_mut(), &self.of, batch)?;
        if batch.submitted.is_none()
            && self.submit(batch, batching, others).await? == Progressed::Waits
        {
            return Ok(());
        }
        if batch.ended.is_none() && self.look(batch, batching).await? == Progressed::Waits {
            return Ok(());
        }
        self.collect(batch, batching).await.map(drop)
    }

    /// Asks how far a batch is.
    async fn look(
        &mut self,
        batch: &mut RunBatch,
        batching: &dyn Batching,
    ) -> Result<Progressed, BatchError> {
        let Some(submitted) = &batch.submitted else { return Ok(Progressed::Waits) };
        let (server, number) = (batching.server(), batch.planned.number);
        let report = server.look(&submitted.id).await.map_err(|e| failed(server, e))?;
        let BatchReport { status, done, phase, .. } = report;
        let (files, error) = match phase {
            BatchPhase::UnderWay => {
                let step = (batch.planned.lines() / PARTS).max(1);
                let before = batch.seen.as_ref().map(|seen| (&*seen.status, seen.done / step));
                // The first look of a process, too: the end of the run then says that it waits.
                if self.seen.insert(number) || before != Some((&*status, done / step)) {
                    self.take(batch, BatchStep::Seen(BatchSeen { done, number, status })).await?;
                    (self.tell)(&BatchNews::Seen(&batch.as_waiting()));
                }
                return Ok(Progressed::Waits);
            }
            BatchPhase::Ended(files) => (files, None),
            BatchPhase::Refused(reason) => (Vec::new(), Some(reason)),
        };
        let ended = BatchEnded { error: error.clone(), files, number, status };
        self.take(batch, BatchStep::Ended(ended)).await?;
        let Some(reason) = error else { return Ok(Progressed::Further) };
        // It has no lines to collect: its questions are planned again when the run continues.
        let digest = blake3::hash(b"").to_hex().to_string();
        let (answered, expired, failed) = (0, batch.planned.lines(), 0);
        let collected = BatchCollected { answered, digest, expired, failed, missing: 0, number };
        let id = batch.submitted.as_ref().map_or_else(String::new, |it| it.id.clone());
        self.take(batch, BatchStep::Collected(collected)).await?;
        Err(BatchError::Refused { server: server.source().to_owned(), number, id, reason })
    }

    /// Records a step of a batch, which is durable when this returns.
    pub(super) async fn take(
        &mut self,
        batch: &mut RunBatch,
        step: BatchStep,
    ) -> Result<(), BatchError> {
        let (_, durable) = self.recorder.record_batch(step.clone())?;
        durable.wait().await?;
        batch.take(step, clock::now());
        Ok(())
    }

    pub(super) fn tell(&mut self, news: BatchNews<'_>) {
        (self.tell)(&news);
    }

    pub(super) fn tell_collected(&mut self, batch: &RunBatch) {
        let Some(collected) = &batch.collected else { return };
        let answered = collected.answered;
        let others = batch.planned.lines().saturating_sub(answered);
        (self.tell)(&BatchNews::Collected { batch: &batch.as_waiting(), answered, others });
    }
}

/// How a batch is asked for: by the server that has it.
pub(super) fn batching_of<'m>(
    reader: &mut dyn Reader,
    of: &BatchesOf<'m>,
    batch: &RunBatch,
) -> Result<&'m dyn Batching, BatchError> {
    let planned = &batch.planned;
    let first = planned.questions().next().unwrap_or_default();
    let prompt = event_at(reader, of.run, first)?.and_then(|event| event.prompt);
    let request = request_of(reader, of.run, first, prompt)?;
    let found = of.model.batching(&request);
    found.filter(|found| found.server().source() == planned.server).ok_or_else(|| {
        BatchError::Elsewhere {
            number: planned.number,
            server: planned.server.clone(),
            model: planned.model.clone(),
            now: found.map_or("no server", |found| found.server().source()).to_owned(),
        }
    })
}

/// Whether a server may be asked again soon.
fn may_pass(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        FailureKind::RateLimited
            | FailureKind::Server
            | FailureKind::Timeout
            | FailureKind::Connection
            | FailureKind::Malformed
    )
}
