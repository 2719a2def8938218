//! The book of a recorded run, whose entries are read when they are first asked for.

use retold::id::RunId;

use crate::digest::Digest;
use crate::key::{AttemptPlace, Key};
use crate::replay_queue::{ReplayQueue, ReplayTurn, Ticket};
use crate::samples::{CallSamples, Samples};

/// A [`ReplayQueue`], and the [`Samples`] that it is filled from, some of which it does not have yet.
pub(crate) struct QueuedCalls {
    book: ReplayQueue,
    samples: Samples,
    /// For each answered question, whether its sample is in the book.
    is_read: Vec<bool>,
    unread: usize,
}

impl QueuedCalls {
    /// Those of a session of this run. `live` says whether requests that are not recorded are asked, and
    /// `holds` whether they are held for a batch.
    pub(crate) fn new(run: RunId, samples: Samples, live: bool, holds: bool) -> Self {
        let unread = samples.questions().map_or(0, |questions| questions.answered.len());
        QueuedCalls {
            book: ReplayQueue::new(run, live).holding(holds),
            samples,
            is_read: vec![false; unread],
            unread,
        }
    }

    /// Whether a call was added.
    pub(crate) fn has(&self, call: Digest) -> bool {
        self.book.has(call)
    }

    /// Adds the recorded samples of a call. Passes on the key of each answered sample, and where
    /// its answer is.
    pub(crate) fn add(
        &mut self,
        call: Digest,
        page: CallSamples,
        mut answered: impl FnMut(&Key, AttemptPlace),
    ) {
        if let Some(questions) = self.samples.questions() {
            for seq in &page.questions {
                if let Ok(at) = questions.answered.binary_search(seq)
                    && let Some(is_read) = self.is_read.get_mut(at)
                    && !std::mem::replace(is_read, true)
                {
                    self.unread -= 1;
                }
            }
        }
        for (_, key, sample) in &page.samples {
            if let Some(last) = sample.attempts.last()
                && last.is_answer
            {
                answered(key, last.place);
            }
        }
        self.book.add(call, page.samples);
    }

    /// The turn of a request whose call was read.
    pub(crate) fn take(&mut self, key: &Key, retry: Option<u32>) -> ReplayTurn {
        self.book.take(key, retry)
    }

    /// Whether something is left under a key whose call was read.
    pub(crate) fn has_left(&self, key: &Key) -> bool {
        self.book.has_left(key)
    }

    /// Under which of some keys a client finds what comes next.
    pub(crate) fn next_of<'a>(&self, keys: &'a [Key], retry: Option<u32>) -> Option<&'a Key> {
        self.book.next_of(keys, retry)
    }

    /// Notes that an attempt failed and that its client may try again.
    pub(crate) fn reopen(&mut self, ticket: Ticket) {
        self.book.reopen(ticket);
    }

    /// How many recorded samples were not asked for, or not to their end.
    pub(crate) fn samples_left(&self) -> usize {
        self.book.samples_left() + self.unread
    }

    /// The calls of some of these.
    pub(crate) fn calls_left(&self, most: usize) -> Vec<String> {
        let mut calls: Vec<_> = self.book.keys_left().map(|key| key.call.clone()).collect();
        if let Some(questions) = self.samples.questions() {
            let unread = questions.answered.iter().zip(&self.is_read);
            let unread = unread.filter(|(_, is_read)| !**is_read).map(|(seq, _)| *seq);
            let unread: Vec<_> = unread.take(most).collect();
            // A log that cannot be read is reported by what reads the next answer.
            calls.extend(self.samples.calls(&unread).unwrap_or_default());
        }
        calls.dedup();
        calls.into_iter().take(most).map(|call| call.to_string()).collect()
    }
}
