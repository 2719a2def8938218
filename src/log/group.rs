//! Group commit: one writer thread owns the connection and drains a channel.
//!
//! Everything that waits in the channel when the thread looks goes into one transaction, so that
//! many concurrent answers share one flush to disk. An answer is handed on only after that flush.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;

use super::backend::{Append, Committer};
use super::error::LogError;
use crate::event::NewEvent;
use crate::id::{RunId, Seq};

/// The most events in one transaction: keeps the wait for the first of them short.
const BATCH: usize = 512;

/// How long the thread waits for one more event while it expects some. Nothing beside the seconds a
/// model takes; but with 64 calls in flight it makes one flush of 64 out of two of 32, which is
/// nearly twice as fast.
const SILENCE: Duration = Duration::from_micros(100);

/// What comes through the channel.
pub(super) enum Item {
    Event(Queued),
    /// Dropped once all before it is stored or refused.
    Flush(Sender<()>),
}

/// An event to be stored.
pub(super) struct Queued {
    pub(super) run: RunId,
    pub(super) seq: Seq,
    pub(super) event: NewEvent,
    pub(super) failed: Arc<OnceLock<LogError>>,
    pub(super) done: Option<Done>,
}

type Done = oneshot::Sender<Result<(), LogError>>;

/// Stores what comes through the channel, until its last sender is gone.
pub(super) fn drain(mut committer: Box<dyn Committer>, receiver: &Receiver<Item>) {
    let mut batch = Batch::default();
    let mut expected = 0;
    loop {
        if batch.is_empty() {
            match receiver.recv() {
                Ok(item) => batch.add(item),
                Err(_) => return,
            }
        }
        batch.gather(receiver, expected);
        let Batch { events, flushes, .. } = std::mem::take(&mut batch);
        let results = store(committer.as_mut(), events);
        // What has come in the meantime is of others than those who are told now; together they are
        // who may be heard of next.
        batch.take_waiting(receiver);
        expected = batch.waiting + results.len();
        for (done, result) in results {
            let _ = done.send(result);
        }
        drop(flushes);
    }
}

/// What will be stored together.
#[derive(Default)]
struct Batch {
    events: Vec<Queued>,
    flushes: Vec<Sender<()>>,
    /// How many of the events someone waits for.
    waiting: usize,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.flushes.is_empty()
    }

    fn add(&mut self, item: Item) {
        match item {
            Item::Event(queued) => {
                self.waiting += usize::from(queued.done.is_some());
                self.events.push(queued);
            }
            Item::Flush(done) => self.flushes.push(done),
        }
    }

    fn take_waiting(&mut self, receiver: &Receiver<Item>) {
        while self.events.len() < BATCH
            && let Ok(item) = receiver.try_recv()
        {
            self.add(item);
        }
    }

    /// Takes what is there, and what comes while events are expected.
    fn gather(&mut self, receiver: &Receiver<Item>, expected: usize) {
        loop {
            self.take_waiting(receiver);
            let full = self.events.len() >= BATCH || self.waiting >= expected;
            if full || !self.flushes.is_empty() {
                return;
            }
            match receiver.recv_timeout(SILENCE) {
                Ok(item) => self.add(item),
                Err(_) => return,
            }
        }
    }
}

/// The events of one run in a batch, in order.
struct Group {
    append: Append,
    failed: Arc<OnceLock<LogError>>,
    waiting: Vec<Done>,
}

/// Stores events; who waits for each, and what to tell them.
fn store(committer: &mut dyn Committer, events: Vec<Queued>) -> Vec<(Done, Result<(), LogError>)> {
    let mut results = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for Queued { run, seq, event, failed, done } in events {
        if let Some(error) = failed.get() {
            results.extend(done.map(|done| (done, Err(error.clone()))));
            continue;
        }
        let at = groups.iter().position(|g| g.append.run == run).unwrap_or_else(|| {
            let append = Append { run, first: seq, events: Vec::new() };
            groups.push(Group { append, failed, waiting: Vec::new() });
            groups.len() - 1
        });
        groups[at].append.events.push(event);
        groups[at].waiting.extend(done);
    }
    if groups.is_empty() {
        return results;
    }
    let (appends, rest): (Vec<Append>, Vec<_>) =
        groups.into_iter().map(|g| (g.append, (g.failed, g.waiting))).unzip();
    let together = committer.commit(&appends).map(drop);
    let alone = together.is_err() && appends.len() > 1;
    for (append, (failed, waiting)) in appends.into_iter().zip(rest) {
        // When several runs share a transaction that fails, each is tried alone, so that one
        // run's conflict is not another's.
        let result = match alone {
            true => committer.commit(&[append]).map(drop),
            false => together.clone(),
        };
        if let Err(error) = &result {
            let _ = failed.set(error.clone());
        }
        results.extend(waiting.into_iter().map(|done| (done, result.clone())));
    }
    results
}
