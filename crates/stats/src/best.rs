//! The best number of clusters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kmeans::kmeans;
use super::labels::count;
use super::silhouette::silhouettes;
use super::span::in_their_span;
use super::vectors::Point;
use super::ward::WardTree;

/// How points are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// [`kmeans`].
    #[default]
    Kmeans,
    /// [`ward`](super::ward).
    Agglomerative,
}

/// Points that are grouped into clusters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clustering {
    /// The cluster of each point.
    pub labels: Vec<usize>,
    /// How many clusters there are.
    pub count: usize,
    /// The silhouette score that decided, if one did.
    pub score: Option<f64>,
}

/// The clustering with 2 to `most` clusters that has the highest silhouette score; on a tie, the
/// one with fewer clusters.
///
/// Where the score cannot decide: no points give no clusters, one point or several identical points
/// give one cluster, and two different points give two clusters if `most` allows it ("minimum
/// cluster count: 2 if possible given data", as the source document has it).
pub fn best_clustering(
    points: &[Point],
    algorithm: Algorithm,
    most: usize,
    seed: u64,
) -> Clustering {
    let n = points.len();
    let identical = points.windows(2).all(|pair| pair[0] == pair[1]);
    if identical || most < 2 {
        return Clustering { labels: vec![0; n], count: n.min(1), score: None };
    }
    if n == 2 {
        return Clustering { labels: vec![0, 1], count: 2, score: None };
    }
    let points = &in_their_span(points);
    let counts = 2..=most.min(n - 1);
    let labellings: Vec<Vec<usize>> = match algorithm {
        Algorithm::Kmeans => counts.filter_map(|k| kmeans(points, k, seed)).collect(),
        Algorithm::Agglomerative => {
            let tree = WardTree::new(points);
            counts.filter_map(|k| tree.as_ref()?.cut(k)).collect()
        }
    };
    let scores = silhouettes(points, &labellings);
    let mut best = Clustering { labels: vec![0; n], count: 1, score: None };
    for (labels, score) in labellings.into_iter().zip(scores) {
        let Some(score) = score else { continue };
        if best.score.is_none_or(|before| score > before) {
            best = Clustering { count: count(&labels), labels, score: Some(score) };
        }
    }
    best
}
