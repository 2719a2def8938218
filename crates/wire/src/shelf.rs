//! The book of a recorded run, whose entries are read when they are first asked for.

use retold::id::CallPath;
use retold::log::LogError;

use crate::asked::Key;
use crate::book::{Book, Place, Ticket, Turn};
use crate::samples::Samples;

/// A [`Book`] and the [`Samples`] that it is filled from.
pub(crate) struct Shelf {
    book: Book,
    samples: Samples,
}

impl Shelf {
    /// `live` says whether what is not recorded is asked; `same_run`, whether new events go to the
    /// run that has the samples.
    pub(crate) fn new(samples: Samples, live: bool, same_run: bool) -> Self {
        Shelf { book: Book::new(live, same_run), samples }
    }

    /// Reads what is recorded of a call, if that was not done before. Passes on the key of each
    /// answered sample, and where its answer is.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn read(
        &mut self,
        call: &CallPath,
        mut answered: impl FnMut(&Key, Place),
    ) -> Result<(), LogError> {
        if self.book.has(call) {
            return Ok(());
        }
        let samples = self.samples.of_call(call)?;
        for (key, sample) in samples.values() {
            if let Some(last) = sample.attempts.last()
                && !last.reopens
                && !sample.partial
            {
                answered(key, last.place);
            }
        }
        self.book.add(call, samples);
        Ok(())
    }

    /// What a request gets whose call was read.
    pub(crate) fn take(&mut self, key: &Key, retry: Option<u32>) -> Turn {
        self.book.take(key, retry)
    }

    /// Notes that an attempt failed and that its client may try again.
    pub(crate) fn reopen(&mut self, ticket: Ticket) {
        self.book.reopen(ticket);
    }

    /// How many recorded samples were not asked for, or not to their end.
    pub(crate) fn left(&self) -> usize {
        self.book.left() + self.samples.unread()
    }

    /// The calls of some of these.
    pub(crate) fn calls_left(&mut self, most: usize) -> Vec<String> {
        let mut calls: Vec<_> = self.book.keys_left().map(|key| key.call.clone()).collect();
        // A log that cannot be read is reported by what reads the next answer.
        calls.extend(self.samples.first_unread(most).unwrap_or_default());
        calls.dedup();
        calls.into_iter().take(most).map(|call| call.to_string()).collect()
    }
}
