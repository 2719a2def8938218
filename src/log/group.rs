//! Group commit: one writer thread owns the connection and drains a channel.
//!
//! Everything that is waiting in the channel goes into one transaction, so that many concurrent
//! answers share one flush to disk. An answer is handed on only after the flush.
//!
//! As long as no other process wants the log or the processor ([`Contention`]), events are inserted as
//! they arrive, while more are still on their way. Otherwise the thread waits before the
//! transaction and never during it.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;

use super::backend::{Append, AppendKind, Committer, Turn};
use super::contention::{Contention, now};
use super::error::LogError;
use crate::event::chain::LinkedEvent;
use crate::id::RunId;

/// The most events in one transaction: keeps the wait for the first of them short.
const BATCH: usize = 512;

/// How long the thread waits for one more event while it expects some. This is nothing next to the
/// seconds that a model takes, but with 64 calls in flight it makes one flush of 64 out of two of
/// 32, which is nearly twice as fast.
const SILENCE: Duration = Duration::from_micros(100);

/// How long the thread polls for more, yielding to others, before it sleeps. A caller whose event
/// was just stored often sends the next one at once, and waking a sleeping thread takes as long as
/// this.
const LOOK: Duration = Duration::from_micros(50);

/// How many events are inserted together while more are expected. Looking up the prepared
/// statements for each event would add a tenth to its cost; waiting for many leaves the processor
/// idle.
const TOGETHER: usize = 4;

/// What comes through the channel.
pub(super) enum Item {
    Event(Box<QueuedEvent>),
    /// Dropped once everything before it is stored or refused.
    Flush(Sender<()>),
}

/// An event to be stored.
pub(super) struct QueuedEvent {
    pub(super) run: RunId,
    pub(super) event: LinkedEvent,
    pub(super) failed: Arc<OnceLock<LogError>>,
    pub(super) done: Option<Done>,
}

type Done = oneshot::Sender<Result<(), LogError>>;

/// Stores what comes through the channel until its last sender is gone.
pub(super) fn drain(mut committer: Box<dyn Committer>, receiver: &Receiver<Item>) {
    let mut batch = EventBatch::default();
    let mut expected = 0;
    let mut crowd = Contention::default();
    loop {
        if batch.is_empty() && !batch.look(receiver, &mut crowd) {
            match receiver.recv() {
                Ok(item) => batch.add(item),
                Err(_) => return,
            }
        }
        batch.gather(committer.as_mut(), receiver, expected, &mut crowd);
        let (results, flushes) = std::mem::take(&mut batch).store(committer.as_mut(), &mut crowd);
        // What has arrived in the meantime is from other callers than those that are notified now:
        // all of them may send the next events.
        batch.take_waiting(receiver);
        expected = batch.waiting + results.len();
        for (done, result) in results {
            let _ = done.send(result);
        }
        drop(flushes);
    }
}

/// The events that are stored together.
#[derive(Default)]
struct EventBatch {
    /// Events that are not inserted yet.
    new: Vec<QueuedEvent>,
    /// Inserted events, by run and in order.
    parts: Vec<BatchPart>,
    /// Why the transaction failed, if it has.
    error: Option<LogError>,
    flushes: Vec<Sender<()>>,
    /// How many events there are.
    events: usize,
    /// How many of them a caller is waiting for.
    waiting: usize,
}

/// Events of one run, in order.
struct BatchPart {
    append: Append,
    failed: Arc<OnceLock<LogError>>,
    waiting: Vec<Done>,
}

/// The waiting callers, with the results to send them.
type Results = Vec<(Done, Result<(), LogError>)>;

impl EventBatch {
    fn is_empty(&self) -> bool {
        self.events == 0 && self.flushes.is_empty()
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Event(queued) => {
                self.events += 1;
                self.waiting += usize::from(queued.done.is_some());
                self.new.push(*queued);
            }
            Item::Flush(done) => self.flushes.push(done),
        }
    }

    fn take_waiting(&mut self, receiver: &Receiver<Item>) {
        while self.events < BATCH
            && let Ok(item) = receiver.try_recv()
        {
            self.add(item);
        }
    }

    /// Polls for more without sleeping; returns whether anything came.
    fn look(&mut self, receiver: &Receiver<Item>, crowd: &mut Contention) -> bool {
        let since = now();
        loop {
            if let Ok(item) = receiver.try_recv() {
                self.add(item);
                return true;
            }
            std::thread::yield_now();
            if since.elapsed() > LOOK {
                crowd.note_wait(since);
                return false;
            }
        }
    }

    /// Sleeps until more comes; returns whether anything came.
    fn sleep(&mut self, receiver: &Receiver<Item>, crowd: &mut Contention) -> bool {
        let since = now();
        let more = receiver.recv_timeout(SILENCE);
        crowd.note_wait(since);
        more.map(|item| self.add(item)).is_ok()
    }

    /// Takes and inserts the waiting items, and those that arrive while more events are expected.
    fn gather(
        &mut self,
        committer: &mut dyn Committer,
        receiver: &Receiver<Item>,
        expected: usize,
        crowd: &mut Contention,
    ) {
        let mut silent = false;
        loop {
            self.take_waiting(receiver);
            let full = self.events >= BATCH || self.waiting >= expected;
            let last = full || silent || !self.flushes.is_empty() || self.error.is_some();
            let crowded = crowd.is_there();
            if crowded && !last && self.parts.is_empty() {
                silent = !self.sleep(receiver, crowd);
                continue;
            }
            let waits = !last && !crowded;
            if waits && self.new.len() < TOGETHER && self.look(receiver, crowd) {
                continue;
            }
            if !self.new.is_empty() {
                self.insert(committer);
                // More may have come while these were inserted.
                continue;
            }
            if !waits {
                return;
            }
            silent = !self.sleep(receiver, crowd);
        }
    }

    /// Inserts the new events into the open transaction.
    fn insert(&mut self, committer: &mut dyn Committer) {
        let from = self.parts.len();
        for QueuedEvent { run, event, failed, done } in self.new.drain(..) {
            let at = self.parts[from..].iter().position(|part| part.append.run == run);
            let at = at.map_or_else(
                || {
                    let append = Append { run, events: Vec::new(), kind: AppendKind::New };
                    self.parts.push(BatchPart { append, failed, waiting: Vec::new() });
                    self.parts.len() - 1
                },
                |at| from + at,
            );
            self.parts[at].append.events.push(event);
            self.parts[at].waiting.extend(done);
        }
        for part in &self.parts[from..] {
            // After a failure, nothing more is stored of that run or of this transaction.
            if self.error.is_none() && part.failed.get().is_none() {
                self.error = committer.append(&part.append).err();
            }
        }
    }

    /// Makes the batch durable; returns the results, and the callers that wait for the flush.
    fn store(
        self,
        committer: &mut dyn Committer,
        crowd: &mut Contention,
    ) -> (Results, Vec<Sender<()>>) {
        let EventBatch { parts, error, flushes, .. } = self;
        let together = match error {
            Some(error) => Err(error),
            None => committer.flush(),
        };
        if let Ok(Turn::AfterOthers) = together {
            crowd.note_others();
        }
        let together = together.map(drop);
        let several = parts.iter().any(|part| part.append.run != parts[0].append.run);
        let mut results = Vec::new();
        for BatchPart { append, failed, waiting } in parts {
            let result = match (failed.get(), &together) {
                (Some(error), _) => Err(error.clone()),
                // When a transaction with several runs fails, each run is tried alone, so that a
                // conflict in one does not fail the others.
                (None, Err(_)) if several => committer.commit(&[append]),
                (None, together) => together.clone(),
            };
            if let Err(error) = &result {
                let _ = failed.set(error.clone());
            }
            results.extend(waiting.into_iter().map(|done| (done, result.clone())));
        }
        (results, flushes)
    }
}
