//! What an experiment is, and what it is given.

use futures::future::LocalBoxFuture;
use rand_chacha::ChaCha12Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::core::SharedCore;
use super::question::DecisionRef;
use super::rehearsal::{Lane, second_part};
use super::rng::rng_for;
use super::stop::Stop;
use crate::id::CallPath;
use crate::prompt::canonical;

/// What an experiment shows of its state at the end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// For programs.
    pub json: Value,
    /// For people: lines of plain text.
    pub text: String,
}

/// An experiment: ordinary sequential async code plus a pure fold.
///
/// `run` must be deterministic: no clock, no thread RNG, no hash-map order. Then it can be executed
/// again from its log, which is how a run is replayed and resumed.
pub trait Experiment {
    /// Its own facts, in the past tense.
    type Event: Serialize + DeserializeOwned;
    /// What they fold into.
    type State: Default;

    /// Folds a fact into the state: consequences only, no rules, no failure.
    fn apply(state: &mut Self::State, event: &Self::Event);

    /// Asks, parses, records facts.
    ///
    /// # Errors
    /// [`Stop`] if the run cannot go on: pass on what [`Run`] raises.
    fn run(&self, run: &mut Run<Self>) -> impl Future<Output = Result<(), Stop>>;

    /// What the state says, for people and programs.
    fn report(&self, state: &Self::State) -> Report;

    /// The lane of a call, for [`Rehearsal`](super::Rehearsal): one name for all calls that build on
    /// each other's answers. By default the second part of the path (`p_0007` of
    /// `clarification/p_0007/2/moderator`).
    fn lane(call: &CallPath) -> String {
        second_part(call)
    }
}

/// What an experiment is given: the only way to ask, and the only way to change its state.
pub struct Run<E: Experiment + ?Sized> {
    pub(super) core: SharedCore,
    state: E::State,
}

impl<E: Experiment + ?Sized> Run<E> {
    pub(super) fn new(core: SharedCore) -> Self {
        Run { core, state: E::State::default() }
    }

    /// The state so far.
    pub fn state(&self) -> &E::State {
        &self.state
    }

    /// Records a fact and the decisions that caused it, and folds it into the state.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be logged, or differs from what is logged.
    pub fn record(&mut self, fact: E::Event, causes: &[DecisionRef]) -> Result<(), Stop> {
        self.core.occur(causes, &canonical(&fact)?)?;
        E::apply(&mut self.state, &fact);
        Ok(())
    }

    /// A stream of random numbers that depends on the run's seed and the name alone.
    pub fn rng(&self, name: &str) -> ChaCha12Rng {
        rng_for(self.core.seed, name)
    }

    /// Says how many answers the run will take in all, for the progress display.
    pub fn expect(&mut self, exchanges: u64) {
        self.core.update(|p| p.expected = exchanges);
    }
}

/// An [`Experiment`] whose types are hidden: what the registry and the command line work with.
pub trait AnyExperiment {
    /// Runs to the end, or to the reason why it stopped; the report is there in any case.
    fn run_any<'a>(&'a self, core: Handle) -> LocalBoxFuture<'a, (Result<(), Stop>, Report)>;

    /// The report of some recorded facts, folded without running anything.
    ///
    /// # Errors
    /// What in them is not a fact of this experiment.
    fn fold(&self, facts: &[Value]) -> Result<Report, String>;

    /// See [`Experiment::lane`].
    fn lanes(&self) -> Lane;
}

/// The inside of a run, handed from [`execute`](super::execute()) to the experiment.
pub struct Handle(pub(super) SharedCore);

impl<E: Experiment> AnyExperiment for E {
    fn run_any<'a>(&'a self, core: Handle) -> LocalBoxFuture<'a, (Result<(), Stop>, Report)> {
        Box::pin(async move {
            let mut run = Run::new(core.0);
            let result = self.run(&mut run).await;
            let report = self.report(&run.state);
            (result, report)
        })
    }

    fn fold(&self, facts: &[Value]) -> Result<Report, String> {
        let mut state = E::State::default();
        for fact in facts {
            let fact = E::Event::deserialize(fact).map_err(|e| format!("fact {fact}: {e}"))?;
            E::apply(&mut state, &fact);
        }
        Ok(self.report(&state))
    }

    fn lanes(&self) -> Lane {
        E::lane
    }
}
