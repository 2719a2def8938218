//! Which recorded answer a request gets: one queue of samples per key, in the order of their arrival.
//!
//! A sample is one answer with the failed attempts before it. A client that tries again stays with
//! its sample, so that errors belong to the caller that met them, under any schedule.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use retold::id::{RunId, Sample, Seq};

use crate::departure::Departure;
use crate::digest::Digest;
use crate::key::{AttemptPlace, Key};

/// A recorded attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Where it is.
    pub place: AttemptPlace,
    /// Whether the client may try again: it failed, and not for good.
    pub reopens: bool,
    /// Whether it is an answer.
    pub is_answer: bool,
    /// If its client did not wait for its end.
    pub departure: Option<Departure>,
}

/// A sample that is being asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Its queue.
    pub key: Key,
    /// Its number within its call.
    pub sample: Sample,
    /// How many attempts the log has before this one.
    pub attempt: u32,
    /// How many of them the client of now has met.
    pub tries: u32,
    /// Whether the log has attempts of which it has met none, because they are asked again.
    pub is_again: bool,
    /// The event of the question in the run that is being written, if it has one already.
    pub request: Option<Seq>,
    /// The attempts that are recorded, from the next one on.
    recorded: VecDeque<Attempt>,
}

/// The turn that a request gets.
#[derive(Debug, PartialEq, Eq)]
pub enum ReplayTurn {
    /// A recorded attempt.
    Recorded(Ticket, Attempt),
    /// An attempt to be made.
    Live(Ticket),
    /// Nothing: it is not recorded.
    Nothing,
}

/// A sample as a log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedSample {
    /// The run that has it.
    pub run: RunId,
    /// The event of its question.
    pub request: Seq,
    /// The attempts that are sent again, in order.
    pub attempts: Vec<Attempt>,
    /// How many attempts the log has; none if it was in flight when the run was cut off.
    pub made: u32,
    /// Whether its client left before it was whole.
    pub partial: bool,
}

/// The samples of a run's calls.
#[derive(Debug)]
pub struct ReplayQueue {
    /// The run that is replayed or written. Samples of another one are recorded in it.
    run: RunId,
    /// The samples that are left under each key; an empty queue is dropped.
    queues: BTreeMap<Key, CallQueue>,
    /// The next new sample of each call that was added.
    next: BTreeMap<Digest, Sample>,
    /// True if requests that are not recorded are asked.
    live: bool,
    /// True if a batch may answer questions that were in flight when the run was cut off: they are not recorded as asked again.
    holds: bool,
}

/// The state of a sample that is asked again.
#[derive(Debug, Default)]
struct LostSample {
    /// The event of its question, if the next attempt belongs to that.
    request: Option<Seq>,
    /// Its attempts so far.
    attempts: u32,
}

#[derive(Debug, Default)]
struct CallQueue {
    recorded: VecDeque<Ticket>,
    /// Samples whose client may try again.
    open: Vec<Ticket>,
    /// Samples that were in flight when the run was cut off, or whose client left before they were whole:
    /// they are asked again.
    lost: BTreeMap<Sample, LostSample>,
}

impl ReplayQueue {
    /// An empty queue for a run. `live` says whether requests that are not recorded are asked.
    pub fn new(run: RunId, live: bool) -> Self {
        ReplayQueue { run, live, holds: false, queues: BTreeMap::new(), next: BTreeMap::new() }
    }

    /// The same; `holds` says whether requests are held for a batch, which may have those that have no answer.
    #[must_use]
    pub(crate) fn holding(self, holds: bool) -> Self {
        ReplayQueue { holds, ..self }
    }

    /// Whether the samples of a call were added.
    pub(crate) fn has(&self, call: Digest) -> bool {
        self.next.contains_key(&call)
    }

    /// Adds the recorded samples of a call, which must be sorted.
    pub(crate) fn add(&mut self, call: Digest, samples: Vec<(Sample, Key, RecordedSample)>) {
        let next = samples.last().map_or(0, |(number, ..)| number.saturating_add(1));
        self.next.insert(call, next);
        let mut partial = Vec::new();
        for (number, key, sample) in samples {
            let RecordedSample { run, request, attempts, made, partial: is_partial } = sample;
            let is_own = run == self.run;
            let queue = self.queues.entry(key.clone()).or_default();
            if made == 0 {
                let request = (is_own && self.holds).then_some(request);
                queue.lost.insert(number, LostSample { request, attempts: 0 });
                continue;
            }
            if is_partial && self.live {
                let lost = match is_own {
                    true => LostSample { request: Some(request), attempts: made },
                    false => LostSample::default(),
                };
                queue.lost.insert(number, lost);
                continue;
            }
            // Attempts that are asked again keep their places, so that those after them still fit.
            let sent = u32::try_from(attempts.len()).unwrap_or(u32::MAX);
            let attempt = if is_own { made.saturating_sub(sent) } else { 0 };
            let ticket = Ticket {
                key,
                sample: number,
                attempt,
                tries: 0,
                is_again: attempt > 0,
                request: is_own.then_some(request),
                recorded: attempts.into(),
            };
            if is_partial { partial.push(ticket) } else { queue.recorded.push_back(ticket) }
        }
        for ticket in partial {
            self.queues.entry(ticket.key.clone()).or_default().recorded.push_back(ticket);
        }
    }

    /// The turn of a request with this key. `retry` is the number of times that its client has tried before. The next
    /// attempt of a sample is there at once, for any request that comes next: equal requests may all come before the first
    /// of them is answered. In a run that has no event of its question yet, it waits for [`reopen`](Self::reopen).
    pub fn take(&mut self, key: &Key, retry: Option<u32>) -> ReplayTurn {
        let turn = self.turn(key, retry);
        if let ReplayTurn::Recorded(ticket, Attempt { reopens: true, .. }) = &turn
            && ticket.request.is_some()
        {
            self.reopen(ticket.clone());
        }
        turn
    }

    fn turn(&mut self, key: &Key, retry: Option<u32>) -> ReplayTurn {
        if let Entry::Occupied(mut entry) = self.queues.entry(key.clone()) {
            let turn = entry.get_mut().take(retry);
            if entry.get().is_empty() {
                entry.remove();
            }
            if let Some(turn) = turn {
                return turn;
            }
        }
        if !self.live {
            return ReplayTurn::Nothing;
        }
        let mut lost = None;
        if let Entry::Occupied(mut entry) = self.queues.entry(key.clone()) {
            lost = entry.get_mut().lost.pop_first();
            if entry.get().is_empty() {
                entry.remove();
            }
        }
        let (sample, LostSample { request, attempts }) = lost.unwrap_or_else(|| {
            let next = self.next.entry(Digest::new(key.call.as_str())).or_default();
            let sample = *next;
            *next = sample.saturating_add(1);
            (sample, LostSample::default())
        });
        let (key, recorded) = (key.clone(), VecDeque::new());
        let is_again = attempts > 0;
        ReplayTurn::Live(Ticket {
            key,
            sample,
            attempt: attempts,
            tries: 0,
            is_again,
            request,
            recorded,
        })
    }

    /// Whether something is left under a key, to be sent or asked again.
    pub(crate) fn has_left(&self, key: &Key) -> bool {
        self.queues.get(key).is_some_and(|queue| {
            let is_lost = self.live && !queue.lost.is_empty();
            is_lost || !(queue.recorded.is_empty() && queue.open.is_empty())
        })
    }

    /// The key under which a client finds its next attempt: that of the sample that it tries again, or else the one recorded
    /// first.
    pub(crate) fn next_of<'a>(&self, keys: &'a [Key], retry: Option<u32>) -> Option<&'a Key> {
        let left = keys.iter().filter(|key| self.has_left(key));
        left.min_by_key(|key| {
            let queue = self.queues.get(key);
            let is_open = retry != Some(0) && queue.is_some_and(|queue| !queue.open.is_empty());
            let place = queue.and_then(|queue| queue.recorded.front()?.recorded.front());
            (!is_open, place.map_or(Seq(u64::MAX), |attempt| attempt.place.seq))
        })
    }

    /// Notes that an attempt failed and that its client may try again.
    pub fn reopen(&mut self, mut ticket: Ticket) {
        ticket.attempt += 1;
        ticket.tries += 1;
        ticket.is_again = false;
        if self.live || !ticket.recorded.is_empty() {
            self.queues.entry(ticket.key.clone()).or_default().open.push(ticket);
        }
    }

    /// The keys that have recorded samples left.
    pub fn keys_left(&self) -> impl Iterator<Item = &Key> {
        self.queues.iter().filter(|(_, queue)| queue.samples_left() > 0).map(|(key, _)| key)
    }

    /// How many recorded samples were not asked for, or not to their end.
    pub fn samples_left(&self) -> usize {
        self.queues.values().map(CallQueue::samples_left).sum()
    }
}

impl CallQueue {
    /// The open or recorded sample for a client.
    fn take(&mut self, retry: Option<u32>) -> Option<ReplayTurn> {
        // A client that counts its attempts says when it begins anew.
        if retry != Some(0) && !self.open.is_empty() {
            let counted = self.open.iter().position(|open| Some(open.tries) == retry);
            return Some(CallQueue::turn(self.open.remove(counted.unwrap_or(0))));
        }
        self.recorded.pop_front().map(CallQueue::turn)
    }

    fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.open.is_empty() && self.lost.is_empty()
    }

    /// The next attempt of a sample: as recorded, or to be made.
    fn turn(mut ticket: Ticket) -> ReplayTurn {
        match ticket.recorded.pop_front() {
            Some(attempt) => ReplayTurn::Recorded(ticket, attempt),
            None => ReplayTurn::Live(ticket),
        }
    }

    fn samples_left(&self) -> usize {
        let all = self.recorded.iter().chain(&self.open);
        all.filter(|ticket| !ticket.recorded.is_empty()).count()
    }
}

#[cfg(test)]
mod tests {
    use retold::id::{CallPath, PromptHash, RunId};

    use super::*;

    const RUN: RunId = RunId([1; 8]);

    fn key(n: u8) -> Key {
        Key { call: CallPath::new("c").unwrap(), prompt: PromptHash([n; 32]) }
    }

    fn place(seq: u64) -> AttemptPlace {
        AttemptPlace { run: RUN, seq: Seq(seq) }
    }

    fn sample(attempts: &[(u64, bool)]) -> RecordedSample {
        let attempts = attempts.iter();
        let attempts = attempts.map(|(seq, reopens)| Attempt {
            place: place(*seq),
            reopens: *reopens,
            is_answer: !reopens,
            departure: None,
        });
        let attempts: Vec<Attempt> = attempts.collect();
        let made = u32::try_from(attempts.len()).unwrap();
        RecordedSample { run: RUN, request: Seq(1), attempts, made, partial: false }
    }

    fn book(samples: Vec<RecordedSample>, live: bool) -> ReplayQueue {
        let call = CallPath::new("c").unwrap();
        let samples = samples.into_iter().zip(0..);
        let mut book = ReplayQueue::new(RUN, live);
        let call = Digest::new(call.as_str());
        book.add(call, samples.map(|(sample, n)| (n, key(1), sample)).collect());
        book
    }

    /// The seq of what a request gets; 0 if it is asked live.
    fn got(book: &mut ReplayQueue, retry: Option<u32>) -> Option<u64> {
        match book.take(&key(1), retry) {
            ReplayTurn::Recorded(ticket, attempt) => {
                assert!(ticket.request.is_some());
                Some(attempt.place.seq.0)
            }
            ReplayTurn::Live(_) => Some(0),
            ReplayTurn::Nothing => None,
        }
    }

    #[test]
    fn samples_come_in_the_order_in_which_they_were_asked_for() {
        let mut book = book(vec![sample(&[(2, false)]), sample(&[(4, false)])], false);
        assert_eq!(book.samples_left(), 2);
        assert_eq!(
            [got(&mut book, None), got(&mut book, Some(0)), got(&mut book, None)],
            [Some(2), Some(4), None]
        );
        assert_eq!(book.samples_left(), 0);
    }

    /// Whatever the schedule: sixteen equal requests come before the first failure was sent.
    #[test]
    fn as_many_outcomes_are_handed_out_as_are_recorded() {
        let samples: Vec<_> =
            (0..8).map(|n| sample(&[(4 * n + 2, true), (4 * n + 3, false)])).collect();
        let mut book = book(samples, false);
        let mut given: Vec<_> = (0..16).filter_map(|_| got(&mut book, None)).collect();
        assert_eq!((given.len(), book.samples_left(), got(&mut book, None)), (16, 0, None));
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 16);
    }

    /// Two callers, one of whom met two errors: whoever comes first gets them, and the other none.
    #[test]
    fn a_caller_that_tries_again_stays_with_its_sample() {
        let mut book =
            book(vec![sample(&[(2, true), (3, true), (4, false)]), sample(&[(6, false)])], false);
        assert_eq!(got(&mut book, Some(0)), Some(2));
        assert_eq!(got(&mut book, Some(0)), Some(6));
        assert_eq!(book.samples_left(), 1);
        assert_eq!(got(&mut book, Some(1)), Some(3));
        assert_eq!(got(&mut book, Some(2)), Some(4));
        assert_eq!(got(&mut book, Some(0)), None);
    }

    #[test]
    fn what_was_in_flight_is_asked_again_under_its_own_number() {
        let mut book = book(vec![sample(&[]), sample(&[(4, false)]), sample(&[(6, true)])], true);
        assert_eq!(got(&mut book, None), Some(4));
        // Its client may try again, which is live now.
        assert_eq!(got(&mut book, None), Some(6));
        let ReplayTurn::Live(again) = book.take(&key(1), None) else { panic!() };
        assert_eq!((again.sample, again.attempt, again.request), (2, 1, Some(Seq(1))));
        let ReplayTurn::Live(lost) = book.take(&key(1), None) else { panic!() };
        assert_eq!((lost.sample, lost.request), (0, None));
        let ReplayTurn::Live(new) = book.take(&key(1), None) else { panic!() };
        assert_eq!((new.sample, new.request), (3, None));
    }

    /// What came after it still fits, and a client that counts counts from its own first attempt.
    #[test]
    fn what_is_asked_again_keeps_its_place() {
        let failed = RecordedSample { made: 3, ..sample(&[]) };
        let mut book = book(vec![sample(&[(2, false)]), failed, sample(&[(8, false)])], true);
        assert_eq!(book.samples_left(), 2);
        assert_eq!(got(&mut book, Some(0)), Some(2));
        let ReplayTurn::Live(again) = book.take(&key(1), Some(0)) else { panic!() };
        assert_eq!((again.sample, again.attempt, again.request), (1, 3, Some(Seq(1))));
        assert!(again.is_again);
        book.reopen(again);
        assert_eq!(got(&mut book, Some(0)), Some(8));
        let ReplayTurn::Live(next) = book.take(&key(1), Some(1)) else { panic!() };
        assert_eq!((next.sample, next.attempt, next.is_again), (1, 4, false));
    }

    #[test]
    fn a_partial_answer_comes_last() {
        let partial = RecordedSample { partial: true, ..sample(&[(2, false)]) };
        let mut book = book(vec![partial, sample(&[(4, false)])], false);
        assert_eq!([got(&mut book, None), got(&mut book, None)], [Some(4), Some(2)]);
    }

    /// Nobody has got it whole.
    #[test]
    fn a_partial_answer_is_asked_again_if_something_can_be_asked() {
        let partial = RecordedSample { partial: true, ..sample(&[(2, true), (3, false)]) };
        let mut book = book(vec![partial, sample(&[(5, false)])], true);
        assert_eq!(got(&mut book, None), Some(5));
        let ReplayTurn::Live(again) = book.take(&key(1), None) else { panic!() };
        assert_eq!((again.sample, again.attempt, again.request), (0, 2, Some(Seq(1))));
        let ReplayTurn::Live(new) = book.take(&key(1), None) else { panic!() };
        assert_eq!((new.sample, new.attempt, new.request), (2, 0, None));
    }
}
