//! The state of an experiment at any point of a recorded run.

use serde::Deserialize;
use serde_json::Value;

use super::experiment::Experiment;
use super::output::OutputError;
use crate::log::RewordedError;

/// A state into which the facts of a recorded run are folded one by one, so that it can be looked at
/// after any of them.
pub trait Folding: Send {
    /// Folds the next fact.
    ///
    /// # Errors
    /// [`OutputError::Fact`] if it is not a fact of this experiment; the state stays as it is.
    fn add(&mut self, fact: &Value) -> Result<(), OutputError>;

    /// How many facts were folded.
    fn facts(&self) -> usize;

    /// The state as JSON.
    ///
    /// # Errors
    /// If a value in it cannot be written as JSON.
    fn state(&self) -> Result<Value, serde_json::Error>;

    /// A copy, to continue from here again.
    fn copy(&self) -> Box<dyn Folding>;
}

/// The state of one experiment.
pub(super) struct StateOf<E: Experiment> {
    pub(super) state: E::State,
    pub(super) facts: usize,
}

impl<E: Experiment> Default for StateOf<E> {
    fn default() -> Self {
        StateOf { state: E::State::default(), facts: 0 }
    }
}

impl<E: Experiment + 'static> Folding for StateOf<E> {
    fn add(&mut self, fact: &Value) -> Result<(), OutputError> {
        let fact = E::Event::deserialize(fact).map_err(|source| {
            let words = format!("{source}, in {fact}");
            OutputError::Fact { number: self.facts, source: RewordedError { words, source }.into() }
        })?;
        E::apply(&mut self.state, &fact);
        self.facts += 1;
        Ok(())
    }

    fn facts(&self) -> usize {
        self.facts
    }

    fn state(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.state)
    }

    fn copy(&self) -> Box<dyn Folding> {
        Box::new(StateOf::<E> { state: self.state.clone(), facts: self.facts })
    }
}
