//! The model judges which of the others' positions is most opposed.

use super::{Choice, Method, Position, Scene};

/// The most positions put before the judge.
const SHOWN: usize = 10;

/// See the module.
pub(super) struct LlmJudge;

impl Method for LlmJudge {
    fn name(&self) -> &'static str {
        "llm_judge"
    }

    /// The first positions in the order of the participants, who are in random conditions: a sample.
    /// Only those whose reasons are known.
    fn choose(&self, who: &Position, scene: &Scene) -> Option<Choice> {
        let known = scene.opponents(who).filter(|other| other.summary.is_some());
        let positions: Vec<Position> = known.take(SHOWN).cloned().collect();
        (!positions.is_empty()).then_some(Choice::Ask(positions))
    }
}
