//! The choice of the participant whose summary is farthest by cosine distance.
//!
//! The document takes the most distant of all participants, who may have made the same choice; then
//! there would be nothing to oppose. Therefore only participants with a different choice are
//! considered.

use super::{COSINE, Compares, ConsideredView, Method, OpposingView, Position, Scene, greatest};
use retold_stats::cosine_distance;

/// See the module.
pub(super) struct Embedding;

impl Method for Embedding {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        greatest(self.candidates(who, scene)).map(OpposingView::Option)
    }

    fn candidates(&self, who: &Position, scene: &Scene) -> Vec<ConsideredView> {
        let Some(own) = &who.embedding else { return Vec::new() };
        let distances = scene.opponents(who).filter_map(|other| {
            let value = cosine_distance(own, other.embedding.as_ref()?)?;
            let participant = Some(other.participant_id.clone());
            Some(ConsideredView { option: other.choice.clone(), participant, value })
        });
        distances.collect()
    }

    fn measure(&self) -> Option<&'static str> {
        Some(COSINE)
    }

    fn compares(&self) -> Compares {
        Compares::Participants
    }
}
