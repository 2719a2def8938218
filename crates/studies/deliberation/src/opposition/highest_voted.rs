//! The option with the most votes that is not the participant's own.

use super::{ConsideredView, Method, OpposingView, Position, Scene, greatest};

/// See the module.
pub(super) struct HighestVoted;

impl Method for HighestVoted {
    fn name(&self) -> &'static str {
        "highest_voted"
    }

    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        highest_voted(who, scene).map(OpposingView::Option)
    }

    fn candidates(&self, who: &Position, scene: &Scene) -> Vec<ConsideredView> {
        votes(who, scene)
    }

    fn measure(&self) -> Option<&'static str> {
        Some("number of votes")
    }
}

/// The option with the most votes, other than the participant's own. In a tie, the first in the
/// config's order wins, even if it has no votes. `None` if there is no other option.
pub fn highest_voted(who: &Position, scene: &Scene) -> Option<String> {
    greatest(votes(who, scene))
}

/// The other options with their votes.
fn votes(who: &Position, scene: &Scene) -> Vec<ConsideredView> {
    let votes = |option: &String| scene.positions.iter().filter(|p| p.choice == *option).count();
    let others = scene.options.iter().filter(|option| **option != who.choice);
    let others = others.map(|option| ConsideredView {
        option: option.clone(),
        participant: None,
        value: votes(option) as f64,
    });
    others.collect()
}
