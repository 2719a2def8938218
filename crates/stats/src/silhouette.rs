//! The silhouette score (Rousseeuw 1987), with scikit-learn's definition of edge cases.

use super::labels::{count, in_order_of_appearance};
use super::vectors::{Point, squared_distance};

/// The mean over all points of `(b - a) / max(a, b)`: `a` is the mean distance to the point's own
/// cluster and `b` to the nearest other one. From -1 to 1. A point that is alone in its cluster
/// counts as 0, and so does one for which both are 0. `None` unless there are at least 2 clusters,
/// and fewer clusters than points.
pub fn silhouette(points: &[Point], labels: &[usize]) -> Option<f64> {
    silhouettes(points, &[labels.to_vec()]).pop().flatten()
}

/// The silhouette scores of several labellings of the same points; computing the distances is the
/// slow part.
pub(super) fn silhouettes(points: &[Point], labellings: &[Vec<usize>]) -> Vec<Option<f64>> {
    let mut scored: Vec<Option<ScoredLabels>> =
        labellings.iter().map(|labels| ScoredLabels::new(points.len(), labels)).collect();
    for (i, point) in points.iter().enumerate() {
        let distances: Vec<f64> =
            points.iter().map(|other| squared_distance(point, other).sqrt()).collect();
        scored.iter_mut().flatten().for_each(|scored| scored.add(i, &distances));
    }
    let mean = |scored: ScoredLabels| scored.total / points.len() as f64;
    scored.into_iter().map(|scored| scored.map(mean)).collect()
}

/// A labelling that is being scored.
struct ScoredLabels {
    /// Numbered from 0, without gaps.
    labels: Vec<usize>,
    /// The number of points with each label.
    sizes: Vec<usize>,
    /// The sum over the points so far.
    total: f64,
}

impl ScoredLabels {
    /// `None` if there is no score.
    fn new(points: usize, labels: &[usize]) -> Option<Self> {
        let clusters = count(labels);
        if labels.len() != points || clusters < 2 || clusters >= points {
            return None;
        }
        let labels = in_order_of_appearance(labels);
        let mut sizes = vec![0; clusters];
        labels.iter().for_each(|label| sizes[*label] += 1);
        Some(ScoredLabels { labels, sizes, total: 0.0 })
    }

    /// Adds point number `i`, given its distances to all points.
    fn add(&mut self, i: usize, distances: &[f64]) {
        let ScoredLabels { labels, sizes, total } = self;
        let own = labels[i];
        if sizes[own] == 1 {
            return;
        }
        let mut sums = vec![0.0; sizes.len()];
        distances.iter().zip(labels).for_each(|(distance, label)| sums[*label] += distance);
        let a = sums[own] / (sizes[own] - 1) as f64;
        let others = (0..sizes.len()).filter(|l| *l != own).map(|l| sums[l] / sizes[l] as f64);
        let b = others.fold(f64::INFINITY, f64::min);
        let larger = a.max(b);
        if larger > 0.0 {
            *total += (b - a) / larger;
        }
    }
}
