//! The choice of the participant whose summary is farthest by cosine distance.
//!
//! The document takes the most distant of all participants, who may have made the same choice; then
//! there would be nothing to oppose. Therefore only participants with a different choice are
//! considered.

use super::{Compares, Method, OpposingView, Position, Scene, farthest};
use retold_stats::cosine_distance;

/// See the module.
pub(super) struct Embedding;

impl Method for Embedding {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        let own = who.embedding.as_ref()?;
        let distances = scene.opponents(who).filter_map(|other| {
            Some((&other.choice, cosine_distance(own, other.embedding.as_ref()?)?))
        });
        farthest(distances).cloned().map(OpposingView::Option)
    }

    fn compares(&self) -> Compares {
        Compares::Participants
    }
}
