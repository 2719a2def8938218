//! The recorded answers that a session has left, and those that equal requests share.

use std::sync::Mutex;

use retold::id::{CallPath, RunId};
use retold::log::LogError;

use crate::digest::Digest;
use crate::key::{AttemptPlace, Key};
use crate::lock::lock;
use crate::queued_calls::QueuedCalls;
use crate::readers::SharedEvent;
use crate::replay_queue::{ReplayTurn, Ticket};
use crate::samples::Samples;
use crate::sharing::{EqualRequest, Sharing};

/// The recorded answers that a session has left, and those that equal requests share.
pub(crate) struct SessionQueue {
    samples: Samples,
    state: Mutex<QueueState>,
}

/// What changes with each exchange. Nothing is awaited while it is held.
struct QueueState {
    queue: QueuedCalls,
    /// `None` if equal requests do not share answers.
    sharing: Option<Sharing>,
}

impl SessionQueue {
    /// The recorded samples of a session of this run.
    pub(crate) fn new(
        run: RunId,
        samples: Samples,
        (is_live, holds): (bool, bool),
        shared: bool,
    ) -> Self {
        let queue = QueuedCalls::new(run, samples.clone(), is_live, holds);
        let sharing = shared.then(Sharing::default);
        SessionQueue { samples, state: Mutex::new(QueueState { queue, sharing }) }
    }

    /// True if recorded failures are left out.
    pub(crate) fn skips_errors(&self) -> bool {
        self.samples.skip_errors()
    }

    /// Reads the recorded samples of a call, if that was not done before. Returns the attempt that
    /// is probably the next to be sent.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(crate) fn read(
        &self,
        call: &CallPath,
    ) -> Result<Option<(AttemptPlace, SharedEvent)>, LogError> {
        let name = Digest::new(call.as_str());
        if lock(&self.state).queue.has(name) {
            return Ok(None);
        }
        let mut page = self.samples.of_call(call)?;
        let first = page.first.take();
        let QueueState { queue, sharing } = &mut *lock(&self.state);
        // Another request may have read it meanwhile.
        if !queue.has(name) {
            queue.add(name, page, |key, place| {
                if let Some(sharing) = sharing {
                    sharing.note(key, Some(place));
                }
            });
        }
        Ok(first)
    }

    /// The turn of a request whose call was read; `retry` is the number of times that its client has tried before, if that
    /// is known.
    pub(crate) fn take(&self, key: &Key, retry: Option<u32>) -> ReplayTurn {
        lock(&self.state).queue.take(key, retry)
    }

    /// True if this key, whose call was read, has no recorded answer left but an equal request under another key may have
    /// one.
    pub(crate) fn may_have_equal(&self, key: &Key) -> bool {
        self.samples.questions().is_some() && !lock(&self.state).queue.has_left(key)
    }

    /// True if all that is recorded under a key was given.
    pub(crate) fn is_used_up(&self, key: &Key) -> bool {
        let state = lock(&self.state);
        state.queue.has(Digest::new(key.call.as_str())) && !state.queue.has_left(key)
    }

    /// The turn of a request under the first of these keys that has anything left; `None` if none has.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(crate) fn take_any(
        &self,
        keys: &[Key],
        retry: Option<u32>,
    ) -> Result<Option<ReplayTurn>, LogError> {
        for key in keys {
            self.read(&key.call)?;
        }
        let queue = &mut lock(&self.state).queue;
        let next = queue.next_of(keys, retry);
        Ok(next.map(|key| queue.take(key, retry)))
    }

    /// Notes that a client may try an attempt again.
    pub(crate) fn reopen(&self, ticket: Ticket) {
        lock(&self.state).queue.reopen(ticket);
    }

    /// How many recorded samples were not asked for to their end, and the first of their calls.
    pub(crate) fn left(&self, calls: usize) -> (usize, Vec<String>) {
        let queue = &lock(&self.state).queue;
        (queue.samples_left(), queue.calls_left(calls))
    }

    /// The answer that an equal request has got; waits for it if it is under way. `None` if answers are not
    /// shared, or this request is the first.
    pub(crate) async fn wait_for_answer(&self, key: &Key) -> Option<AttemptPlace> {
        loop {
            let equal = lock(&self.state).sharing.as_mut()?.ask(key);
            match equal {
                EqualRequest::None => return None,
                EqualRequest::Asked(ended) => ended.await,
                EqualRequest::Answered(place) => return Some(place),
            }
        }
    }

    /// The shared answer that an equal request has got already.
    pub(crate) fn shared_answer(&self, key: &Key) -> Option<AttemptPlace> {
        lock(&self.state).sharing.as_ref()?.answer(key)
    }

    /// Notes what became of a request that others may share; `None` if it failed.
    pub(crate) fn share(&self, key: &Key, place: Option<AttemptPlace>) {
        if let Some(sharing) = &mut lock(&self.state).sharing {
            sharing.note(key, place);
        }
    }
}
