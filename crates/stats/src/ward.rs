//! Agglomerative clustering with Ward's linkage (scikit-learn's default), by kodama.

use kodama::{Dendrogram, Method, linkage};

use super::labels::in_order_of_appearance;
use super::vectors::{Point, squared_distance};

/// The labels of `k` clusters: the pairs that raise the sum of squared distances least are merged
/// until `k` are left. `None` if there are fewer points than clusters, or if a coordinate is not
/// finite.
pub fn ward(points: &[Point], k: usize) -> Option<Vec<usize>> {
    WardTree::new(points)?.cut(k)
}

/// The order in which points are merged: computed once, cut at any number of clusters.
#[derive(Debug)]
pub(super) struct WardTree(Dendrogram<f64>);

impl WardTree {
    /// The tree of some points; `None` if there are none, or a coordinate is not finite.
    pub(super) fn new(points: &[Point]) -> Option<Self> {
        let n = points.len();
        if n == 0 || points.iter().flatten().any(|x| !x.is_finite()) {
            return None;
        }
        let mut distances = Vec::with_capacity(n * (n - 1) / 2);
        for (i, a) in points.iter().enumerate() {
            distances.extend(points.iter().skip(i + 1).map(|b| squared_distance(a, b).sqrt()));
        }
        Some(WardTree(linkage(&mut distances, n, Method::Ward)))
    }

    /// The labels of `k` clusters; `None` if there are fewer points.
    pub(super) fn cut(&self, k: usize) -> Option<Vec<usize>> {
        let n = self.0.observations();
        if k == 0 || n < k {
            return None;
        }
        // The members of every cluster that has existed: the points, then one more cluster per
        // step.
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        for step in self.0.steps().iter().take(n - k) {
            let mut joined = std::mem::take(clusters.get_mut(step.cluster1)?);
            joined.append(clusters.get_mut(step.cluster2)?);
            clusters.push(joined);
        }
        let mut labels = vec![0; n];
        for (label, members) in clusters.iter().enumerate() {
            members.iter().for_each(|i| labels[*i] = label);
        }
        Some(in_order_of_appearance(&labels))
    }
}
