//! A reader that checks every event it returns.

use std::collections::BTreeMap;

use super::backend::{Reader, RunHead};
use super::error::LogError;
use super::finding::EventFault;
use super::ledger::LedgerEntry;
use super::store_index::StoreIndex;
use crate::event::StoredEvent;
use crate::event::chain::{ChainLink, Head};
use crate::id::{PromptHash, RunId, Seq};
use crate::prompt::Request;

/// A reader that checks every event it returns: its hash must follow from its columns, its content,
/// its prompt's hash and the hash stored before it. So a change to the file that did not recompute
/// the hash shows up as damage wherever it is read, without reading the rest of the run. An
/// attacker who recomputes all later hashes is detected only by [`verify_run`](super::verify_run)
/// and the ledger.
pub struct CheckedReader {
    inner: Box<dyn Reader>,
    /// The events that were found intact: the first and the last seq of each stretch, by run.
    intact: BTreeMap<RunId, BTreeMap<u64, u64>>,
    /// The last event that was checked.
    last: Option<(RunId, Head)>,
}

impl CheckedReader {
    /// Checks what `inner` returns.
    pub fn new(inner: Box<dyn Reader>) -> Self {
        CheckedReader { inner, intact: BTreeMap::new(), last: None }
    }

    /// How many events were returned and found intact; one that was read again counts once.
    pub fn checked_events(&self) -> u64 {
        self.intact.values().flatten().map(|(first, last)| last - first + 1).sum()
    }

    /// Notes that the events from `first` to `last` are intact.
    fn note(&mut self, run: RunId, mut first: u64, mut last: u64) {
        let stretches = self.intact.entry(run).or_default();
        while let Some((from, to)) = stretches.range(..=last.saturating_add(1)).next_back()
            && to.saturating_add(1) >= first
        {
            let (from, to) = (*from, *to);
            (first, last) = (first.min(from), last.max(to));
            stretches.remove(&from);
        }
        stretches.insert(first, last);
    }

    /// Events after a seq, with the event that precedes them.
    fn read(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<(Head, Vec<StoredEvent>), LogError> {
        match self.last {
            _ if after == Seq(0) => Ok((Head::START, self.inner.events(run, after, limit)?)),
            Some((last, head)) if (last, head.seq) == (run, after) => {
                Ok((head, self.inner.events(run, after, limit)?))
            }
            _ => {
                let before = Seq(after.0.saturating_sub(1));
                let mut events = self.inner.events(run, before, limit.saturating_add(1))?;
                let head = match events.first() {
                    Some(event) if event.seq == after => {
                        Head { seq: after, hash: events.remove(0).hash }
                    }
                    Some(event) => {
                        let fault =
                            EventFault::gap(after, event.seq).unwrap_or(EventFault::Displaced);
                        return Err(LogError::corrupt(run, after, fault));
                    }
                    // The run ends before them.
                    None => return Ok((Head::START, events)),
                };
                // The preceding event may have been so large that it was returned alone.
                if events.is_empty() {
                    Ok((head, self.inner.events(run, after, limit)?))
                } else {
                    Ok((head, events))
                }
            }
        }
    }
}

/// How far events follow each other, the first of them the event `head`: the last that does, and
/// [`LogError::Corrupt`] for the first event that is missing or has another hash.
pub(crate) fn follow(mut head: Head, events: &[StoredEvent]) -> (Head, Option<LogError>) {
    for event in events {
        let due = head.seq.next();
        let hash = ChainLink::of_stored(event).hash_after(head.hash);
        let fault = match EventFault::gap(due, event.seq) {
            Some(missing) => missing,
            None if hash == event.hash => {
                head = Head { seq: event.seq, hash };
                continue;
            }
            None => EventFault::Hash,
        };
        return (head, Some(LogError::corrupt(event.run, due, fault)));
    }
    (head, None)
}

impl Reader for CheckedReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        self.inner.runs()
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let (before, mut events) = self.read(run, after, limit)?;
        let (head, damaged) = follow(before, &events);
        let sound = usize::try_from(head.seq.0 - before.seq.0).unwrap_or(usize::MAX);
        events.truncate(sound);
        match damaged {
            // The next call will meet it again.
            Some(damaged) if events.is_empty() => return Err(damaged),
            _ => {}
        }
        if let Some(first) = events.first() {
            self.note(run, first.seq.0, head.seq.0);
            self.last = Some((run, head));
        }
        Ok(events)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        self.inner.ledger(after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.inner.request(prompt)
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        self.inner.index()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NewEvent;
    use crate::id::Time;
    use crate::log::{Append, Log};

    #[test]
    fn an_event_that_is_read_again_counts_once() {
        let log = Log::in_memory();
        let [one, other] = [RunId([1; 8]), RunId([2; 8])];
        for run in [one, other] {
            let events = (1..=9).map(|n| NewEvent::new("Occurred", Time(n)));
            let append = Append::new(run, Head::START, events);
            log.backend().committer().unwrap().commit(&[append]).unwrap();
        }
        let mut reader = log.checked_reader().unwrap();
        let mut read = |run: RunId, after: u64, limit: usize| {
            drop(reader.events(run, Seq(after), limit).unwrap());
            reader.checked_events()
        };
        assert_eq!([read(one, 0, 2), read(one, 5, 2), read(one, 5, 2)], [2, 4, 4]);
        assert_eq!([read(one, 1, 3), read(other, 0, 9), read(one, 4, 1)], [6, 15, 16]);
        assert_eq!([read(one, 0, 9), read(other, 3, 1)], [18, 18]);
    }
}
