//! The option with the most votes that is not the participant's own.

use super::{Method, OpposingView, Position, Scene};

/// See the module.
pub(super) struct HighestVoted;

impl Method for HighestVoted {
    fn name(&self) -> &'static str {
        "highest_voted"
    }

    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        highest_voted(who, scene).map(OpposingView::Option)
    }
}

/// The option with the most votes, other than the participant's own. In a tie, the first in the
/// config's order wins, even if it has no votes. `None` if there is no other option.
pub fn highest_voted(who: &Position, scene: &Scene) -> Option<String> {
    let votes = |option: &String| scene.positions.iter().filter(|p| p.choice == *option).count();
    let others = scene.options.iter().filter(|option| **option != who.choice);
    super::farthest(others.map(|option| (option, votes(option) as f64))).cloned()
}
