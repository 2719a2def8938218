//! Where each question of a run and its answer stand, in some ten bytes each.

use crate::event::{Event, EventError, StoredEvent};
use crate::id::{CallPath, Sample, Seq};
use crate::lookup::LookupMap;

/// Where a question and its answer stand in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) request: Seq,
    pub(super) answer: Option<Seq>,
    /// The last attempt, if the call finally failed.
    pub(super) failure: Option<Seq>,
    pub(super) decision: Option<Seq>,
}

/// The places of one address: no run has more events than a `u32` can count, and 0 is none.
#[derive(Debug, Clone, Copy, Default)]
struct Packed {
    request: u32,
    answer: u32,
    failure: u32,
    decision: u32,
}

/// What an address is looked up by: of calls, only a hash is kept.
type Key = [u8; 16];

/// The places of all questions of a run.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    places: LookupMap<Key, Packed>,
    /// The questions that are not answered yet.
    asked: LookupMap<Seq, Key>,
    /// The answers that are not decided on yet.
    answered: LookupMap<Seq, Key>,
}

fn key(call: &CallPath, sample: Sample) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.as_str().as_bytes()).update(&sample.to_le_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}

impl Addresses {
    /// Takes in the next event.
    pub(super) fn add(&mut self, stored: &StoredEvent) -> Result<(), EventError> {
        let seq = stored.seq;
        let packed = u32::try_from(seq.0).unwrap_or_default();
        let cause = stored.cause.unwrap_or_default();
        if stored.is_request() {
            if let (Some(call), Some(sample)) = (&stored.call, stored.sample) {
                let key = key(call, sample);
                // A question asked again after a crash stands in for the one that was lost.
                self.places.insert(key, Packed { request: packed, ..Packed::default() });
                self.asked.insert(seq, key);
            }
        } else if stored.is_answer() {
            if let Some(key) = self.asked.remove(&cause) {
                self.set(&key, |places| places.answer = packed);
                self.answered.insert(seq, key);
            }
        } else if stored.decided_by().is_some() {
            if let Some(key) = self.answered.remove(&cause) {
                self.set(&key, |places| places.decision = packed);
            }
        } else if stored.is_failed_attempt()
            && let Event::AttemptFailed(attempt) = stored.event()?
            && attempt.details.gave_up
            && let Some(key) = self.asked.get(&cause).copied()
        {
            self.set(&key, |places| places.failure = packed);
        }
        Ok(())
    }

    fn set(&mut self, key: &Key, change: impl FnOnce(&mut Packed)) {
        if let Some(mut places) = self.places.get(key).copied() {
            change(&mut places);
            self.places.insert(*key, places);
        }
    }

    /// The places of an address.
    pub(super) fn places(&self, call: &CallPath, sample: Sample) -> Option<Places> {
        let Packed { request, answer, failure, decision } = *self.places.get(&key(call, sample))?;
        let seq = |place: u32| (place > 0).then_some(Seq(place.into()));
        let [answer, failure, decision] = [answer, failure, decision].map(seq);
        Some(Places { request: Seq(request.into()), answer, failure, decision })
    }
}
