//! The option whose groups are farthest from the participant: an option's position is the mean of
//! the vectors of its groups, weighted by their size; the distance is the cosine distance to the
//! vector of the participant's summary.

use super::{COSINE, Compares, ConsideredView, Method, OpposingView, Position, Scene, greatest};
use retold_stats::{cosine_distance, weighted_mean};

/// See the module.
pub(super) struct ClusterEmbedding;

impl Method for ClusterEmbedding {
    fn name(&self) -> &'static str {
        "cluster_embedding"
    }

    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        greatest(self.candidates(who, scene)).map(OpposingView::Option)
    }

    fn candidates(&self, who: &Position, scene: &Scene) -> Vec<ConsideredView> {
        let Some(own) = &who.embedding else { return Vec::new() };
        let others = scene.options.iter().filter(|option| **option != who.choice);
        let distances = others.filter_map(|option| {
            let groups = scene.groups.iter().filter(|group| group.option == *option);
            let place = weighted_mean(groups.map(|g| (g.embedding.as_slice(), g.members as f64)))?;
            let value = cosine_distance(own, &place)?;
            Some(ConsideredView { option: option.clone(), participant: None, value })
        });
        distances.collect()
    }

    fn measure(&self) -> Option<&'static str> {
        Some(COSINE)
    }

    fn compares(&self) -> Compares {
        Compares::Groups
    }
}
