//! Clusters the vectors of an option's voters.

use super::calls;
use super::config::Config;
use retold_stats::{Point, best_clustering};

/// A cluster without its description.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCluster {
    /// `Option_cluster_N`: numbered from 0 in the order in which they first occur among the
    /// participants' ids.
    pub cluster_id: String,
    /// `cluster/2_0`: option and number, as the prefix for call paths.
    pub(super) call: String,
    /// The option.
    pub option: String,
    /// In the order of their ids.
    pub member_ids: Vec<String>,
}

/// The seed of K-means in the original's program, and if a config has none.
pub const USUAL_SEED: u64 = 42;

/// The clusters of the participants who chose an option, in the order of their ids. K-means starts
/// at random points, which depend on the seed.
pub fn group(
    number: usize,
    option: &str,
    members: &[(String, Point)],
    config: &Config,
    seed: u64,
) -> Vec<NewCluster> {
    let points: Vec<Point> = members.iter().map(|(_, point)| point.clone()).collect();
    let most = config.max_clusters_per_option as usize;
    let found = best_clustering(&points, config.clustering_algorithm, most, seed);
    (0..found.count)
        .map(|label| {
            let of_it = members.iter().zip(&found.labels).filter(|(_, l)| **l == label);
            NewCluster {
                cluster_id: format!("{option}_cluster_{label}"),
                call: calls::numbered_cluster(number, label),
                option: option.to_owned(),
                member_ids: of_it.map(|((id, _), _)| id.clone()).collect(),
            }
        })
        .collect()
}
