//! Where each question of a run and its answer are, in about ten bytes each.

use crate::event::{Event, EventError, StoredEvent};
use crate::id::{CallPath, Sample, Seq};
use crate::lookup::LookupMap;

/// Where a question and its answer are in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExchangePlaces {
    pub(super) request: Seq,
    pub(super) answer: Option<Seq>,
    /// The last attempt, if the call ran out of retries.
    pub(super) failure: Option<Seq>,
    pub(super) decision: Option<Seq>,
}

/// The places of one address, as `u32`: no run has more events than fit. 0 means that there is
/// none.
#[derive(Debug, Clone, Copy, Default)]
struct PackedPlaces {
    request: u32,
    answer: u32,
    failure: u32,
    decision: u32,
}

/// The key of an address: only a hash of the call is kept.
type Key = [u8; 16];

/// The places of all questions of a run. Sorted lists, because a hash table with a million places
/// takes twice the memory, and three times while it grows.
#[derive(Debug)]
pub(super) struct Addresses(Vec<(Key, PackedPlaces)>);

/// Collects the places from the events, in the order of the questions.
#[derive(Debug, Default)]
pub(super) struct PlaceCollector {
    places: Vec<(Key, PackedPlaces)>,
    /// The questions without an answer so far, each with its index in that list.
    asked: LookupMap<Seq, usize>,
    /// The answers without a decision so far.
    answered: LookupMap<Seq, usize>,
}

fn key(call: &CallPath, sample: Sample) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.as_str().as_bytes()).update(&sample.to_le_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}

impl PlaceCollector {
    /// Adds the next event.
    pub(super) fn add(&mut self, stored: &StoredEvent) -> Result<(), EventError> {
        let seq = stored.seq;
        let packed = u32::try_from(seq.0).unwrap_or(0);
        let cause = stored.cause.unwrap_or(Seq(0));
        if stored.is_request() {
            if let (Some(call), Some(sample)) = (&stored.call, stored.sample) {
                self.asked.insert(seq, self.places.len());
                let places = PackedPlaces { request: packed, ..PackedPlaces::default() };
                self.places.push((key(call, sample), places));
            }
        } else if stored.is_answer() {
            if let Some(at) = self.asked.remove(&cause) {
                self.set(at, |places| places.answer = packed);
                self.answered.insert(seq, at);
            }
        } else if stored.is_decision() {
            if let Some(at) = self.answered.remove(&cause) {
                self.set(at, |places| places.decision = packed);
            }
        } else if stored.is_failed_attempt()
            && let Event::AttemptFailed(attempt) = stored.event()?
            && attempt.details.gave_up
            && let Some(at) = self.asked.get(&cause).copied()
        {
            self.set(at, |places| places.failure = packed);
        }
        Ok(())
    }

    fn set(&mut self, at: usize, change: impl FnOnce(&mut PackedPlaces)) {
        if let Some((_, places)) = self.places.get_mut(at) {
            change(places);
        }
    }

    /// Call this after the last event.
    pub(super) fn finish(self) -> Addresses {
        let mut places = self.places;
        places.sort_unstable_by_key(|(key, places)| (*key, places.request));
        Addresses(places)
    }
}

impl Addresses {
    /// The places of an address.
    pub(super) fn places(&self, call: &CallPath, sample: Sample) -> Option<ExchangePlaces> {
        let key = key(call, sample);
        // A question that was asked again after a crash replaces the lost one: it is the last with
        // its key.
        let after = self.0.partition_point(|(other, _)| *other <= key);
        let (found, places) = self.0.get(after.checked_sub(1)?)?;
        let PackedPlaces { request, answer, failure, decision } = *places;
        if *found != key {
            return None;
        }
        let seq = |place: u32| (place > 0).then_some(Seq(place.into()));
        let [answer, failure, decision] = [answer, failure, decision].map(seq);
        Some(ExchangePlaces { request: Seq(request.into()), answer, failure, decision })
    }
}
