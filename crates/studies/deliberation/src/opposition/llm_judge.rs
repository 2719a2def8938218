//! The model judges which of the other participants' positions is most opposed.

use rand_chacha::ChaCha12Rng;

use super::{Method, OpposingView, Position, Scene};
use retold::run::shuffle;

/// The most positions shown to the judge.
const SHOWN: usize = 10;

/// See the module.
pub(super) struct LlmJudge;

impl Method for LlmJudge {
    fn name(&self) -> &'static str {
        "llm_judge"
    }

    /// All participants with known reasons; the judge sees a [`sample`] of them.
    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        let known = scene.opponents(who).filter(|other| other.summary.is_some());
        let positions: Vec<Position> = known.cloned().collect();
        (!positions.is_empty()).then_some(OpposingView::Ask(positions))
    }
}

/// Ten of the positions, drawn at random and in the order drawn; the first ten if there is no
/// generator.
pub fn sample(mut positions: Vec<Position>, lots: Option<ChaCha12Rng>) -> Vec<Position> {
    if let Some(mut lots) = lots {
        shuffle(&mut positions, &mut lots);
    }
    positions.truncate(SHOWN);
    positions
}
