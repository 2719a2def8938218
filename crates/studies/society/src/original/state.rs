//! The state folded from the facts of a log.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::facts::{Holdings, OriginalFact};
use crate::world::gini;
use retold::run::as_pairs;

/// The state.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct OriginalState {
    /// By run and epoch.
    #[serde(serialize_with = "as_pairs")]
    pub epochs: BTreeMap<(u32, u32), Epoch>,
    /// Turns taken.
    pub turns: u64,
    /// Turns that the world of the log refused.
    pub refused_there: u64,
    /// How many of these have an answer that is not one of our actions.
    pub rejected_in_both: u64,
    /// Turns that it refused but that would have been actions of ours.
    pub accepted_here_alone: u64,
    /// Turns that it refused although the agent's holdings changed.
    pub changed_though_refused: u64,
    /// Turns that it carried out but that are not actions of ours, by the logged action.
    pub rejected_here_alone: BTreeMap<String, u64>,
    /// Answers that are not actions of ours, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Each invalid action: run, epoch, agent, whether that world carried it out, action, reason.
    pub invalid: Vec<(u32, u32, String, bool, String, String)>,
}

/// An epoch of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Epoch {
    /// What each agent had after its turn.
    pub holdings: BTreeMap<String, Holdings>,
    /// The agents that died.
    pub died: BTreeSet<String>,
    /// Trades that were carried out.
    pub trades: u64,
    /// Turns that were refused in that world.
    pub refused_there: u64,
    /// Answers that are not actions of ours.
    pub rejected_here: u64,
}

impl Epoch {
    /// The number of agents that took a turn and did not die.
    pub fn alive(&self) -> usize {
        self.holdings.keys().filter(|agent| !self.died.contains(*agent)).count()
    }

    /// The total energy after the turns, before the end of the epoch takes its share.
    pub fn energy(&self) -> f64 {
        self.holdings.values().map(|h| h.energy).sum()
    }

    /// The Gini coefficient of this energy.
    pub fn gini(&self) -> f64 {
        gini(&self.holdings.values().map(|h| h.energy).collect::<Vec<f64>>())
    }
}

impl OriginalState {
    pub(super) fn apply(&mut self, fact: &OriginalFact) {
        match fact.clone() {
            OriginalFact::Acted {
                run,
                epoch,
                agent_id,
                action_type,
                done_there,
                before,
                after,
            } => {
                self.turn(done_there, before, after);
                self.accepted_here_alone += u64::from(!done_there);
                let epoch = self.epochs.entry((run, epoch)).or_default();
                epoch.turn(agent_id, &action_type, done_there, after);
            }
            OriginalFact::InvalidAction {
                run,
                epoch,
                agent_id,
                action_type,
                done_there,
                reason,
                before,
                after,
                action: _,
            } => {
                self.turn(done_there, before, after);
                if done_there {
                    *self.rejected_here_alone.entry(action_type.clone()).or_default() += 1
                } else {
                    self.rejected_in_both += 1
                }
                *self.reasons.entry(reason.clone()).or_default() += 1;
                let place = self.epochs.entry((run, epoch)).or_default();
                place.turn(agent_id.clone(), &action_type, done_there, after);
                place.rejected_here += 1;
                self.invalid.push((run, epoch, agent_id, done_there, action_type, reason));
            }
            OriginalFact::Died { run, epoch, agent_id } => {
                self.epochs.entry((run, epoch)).or_default().died.insert(agent_id);
            }
        }
    }

    fn turn(&mut self, done_there: bool, before: Holdings, after: Holdings) {
        self.turns += 1;
        self.refused_there += u64::from(!done_there);
        self.changed_though_refused += u64::from(!done_there && before != after);
    }
}

impl Epoch {
    fn turn(&mut self, agent: String, action: &str, done: bool, after: Holdings) {
        self.holdings.insert(agent, after);
        self.trades += u64::from(done && action == "trade");
        self.refused_there += u64::from(!done);
    }
}
