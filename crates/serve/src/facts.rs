//! The state of a run after any of its events: its facts folded up to there. States on the way are
//! kept, so that going back and forth in a long run need not begin at its beginning.

use std::collections::BTreeMap;

use retold::event::Event;
use retold::id::{RunId, Seq};
use retold::log::{Index, LogError, Reader, RunEvents, each_event_at};
use retold::run::{Folding, clock::Stopwatch};
use serde_json::Value;

use crate::background::WAIT_TIMEOUT;

/// The most states that are kept of a run.
const MOST_STATES: usize = 48;

/// The most memory for them, measured by their JSON.
const MOST_BYTES: usize = 192 << 20;

/// Facts that are read together.
const TOGETHER: usize = 512;

/// The states of a run.
pub(crate) struct Fold {
    run: RunId,
    /// Where its facts are.
    places: Vec<Seq>,
    end: Seq,
    /// States by the number of facts in them; the one without facts is always there.
    states: BTreeMap<usize, Box<dyn Folding>>,
    /// How far apart states are kept.
    step: usize,
}

/// Why a state cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The log cannot be read there.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It has no JSON form.
    #[error("the state cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A fact is not one of this experiment, or cannot be read.
    #[error("the state can be followed up to fact {facts}: {why}")]
    Broken {
        /// The facts before it.
        facts: usize,
        /// Why.
        why: String,
    },
}

/// A state, or how far it has been folded.
pub(crate) enum At {
    /// After this many facts. The second is the state before the last of them.
    State { state: Value, before: Option<Value>, facts: usize },
    /// It takes longer: so many facts.
    Folding { facts: usize },
    /// A fact is not one of this experiment.
    Broken { facts: usize, why: String },
}

impl Fold {
    /// The states of a run, beginning with one without facts.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn new(
        reader: &mut dyn Reader,
        run: RunId,
        begin: Box<dyn Folding>,
    ) -> Result<Self, LogError> {
        let index = Index::open(reader, run)?;
        let places = index.facts(reader)?;
        let states = BTreeMap::from([(0, begin)]);
        let step = (places.len() / MOST_STATES).max(64);
        Ok(Fold { run, places, end: index.end(), states, step })
    }

    /// The last event that is known.
    pub(crate) fn end(&self) -> Seq {
        self.end
    }

    /// How many facts there are up to an event.
    pub(crate) fn facts(&self, to: Seq) -> usize {
        self.places.partition_point(|seq| *seq <= to)
    }

    /// The facts around a seq: the last one up to it, and the one after that.
    pub(crate) fn around(&self, at: Seq) -> (Option<Seq>, Option<Seq>) {
        let facts = self.places.partition_point(|seq| *seq <= at);
        (
            facts.checked_sub(1).and_then(|last| self.places.get(last)).copied(),
            self.places.get(facts).copied(),
        )
    }

    /// Learns of facts that were added.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn read_on(&mut self, reader: &mut dyn Reader, to: Seq) -> Result<(), LogError> {
        let mut events = RunEvents::after(self.run, self.end);
        while self.end < to {
            let Some(event) = events.next(reader)? else { break };
            self.end = event.seq;
            self.places.extend((event.kind == "Occurred").then_some(event.seq));
        }
        Ok(())
    }

    /// The state after an event.
    ///
    /// # Errors
    /// [`StateError`].
    pub(crate) fn at(&mut self, reader: &mut dyn Reader, at: Seq) -> Result<At, StateError> {
        let wanted = self.places.partition_point(|seq| *seq <= at);
        let watch = Stopwatch::start();
        // The state before the last fact is shown as well: what did that fact change?
        let before = wanted.saturating_sub(1);
        let nearest = self.states.range(..=before).next_back();
        let Some(mut folding) = nearest.map(|(_, state)| state.copy()) else {
            return Ok(At::Folding { facts: 0 });
        };
        let mut earlier = (folding.facts() == before && wanted > 0).then(|| folding.state());
        while folding.facts() < wanted {
            let from = folding.facts();
            // Up to the next place where something is kept or needed.
            let stop = match from < before {
                true => before.min((from / self.step + 1) * self.step),
                false => wanted,
            };
            let stop = stop.min(from + TOGETHER).min(self.places.len());
            let places = self.places.get(from..stop).unwrap_or(&[]);
            let mut broken = None;
            each_event_at::<LogError>(reader, self.run, places, |stored| {
                if broken.is_none()
                    && let Ok(Event::Occurred(fact)) = stored.event()
                {
                    broken = folding.add(&fact.fact).err().map(|error| error.to_string());
                }
                Ok(())
            })?;
            let facts = folding.facts();
            if broken.is_some() || facts < stop {
                let why = broken.unwrap_or_else(|| "the fact cannot be read".to_owned());
                return Ok(At::Broken { facts, why });
            }
            if facts.is_multiple_of(self.step) || facts == before {
                self.keep(folding.copy())?;
            }
            if facts == before {
                earlier = Some(folding.state());
            }
            if facts < wanted && watch.elapsed() > WAIT_TIMEOUT {
                self.keep(folding)?;
                return Ok(At::Folding { facts });
            }
        }
        let before = earlier.transpose()?;
        Ok(At::State { state: folding.state()?, before, facts: wanted })
    }

    /// Keeps a state, and drops every other one if they become too many.
    fn keep(&mut self, state: Box<dyn Folding>) -> Result<(), serde_json::Error> {
        self.states.insert(state.facts(), state);
        let largest = self.states.last_key_value();
        if self.states.len() > 8 && self.states.len().is_power_of_two()
            || self.states.len() > MOST_STATES
        {
            let bytes = match largest {
                Some((_, state)) => state.state()?.to_string().len(),
                None => 0,
            };
            let most = (MOST_BYTES / bytes.max(1)).clamp(4, MOST_STATES);
            if self.states.len() > most {
                let last = self.states.keys().next_back().copied();
                let mut at = 0_usize;
                self.states.retain(|facts, _| {
                    at += 1;
                    at % 2 == 1 || Some(*facts) == last
                });
            }
        }
        Ok(())
    }
}
