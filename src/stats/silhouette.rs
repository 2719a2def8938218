//! The silhouette score (Rousseeuw 1987), as scikit-learn defines its edges.

use super::labels::{count, in_order_of_appearance};
use super::vectors::{Point, squared_distance};

/// The mean over all points of `(b - a) / max(a, b)`: `a` the mean distance to the point's own
/// cluster, `b` to the nearest other one. From -1 to 1. A point alone in its cluster counts 0, and
/// so does one where both are 0. `None` unless there are at least 2 clusters and fewer clusters than
/// points.
pub fn silhouette(points: &[Point], labels: &[usize]) -> Option<f64> {
    let (n, k) = (points.len(), count(labels));
    if labels.len() != n || k < 2 || k >= n {
        return None;
    }
    let labels = in_order_of_appearance(labels);
    let mut sizes = vec![0_usize; k];
    labels.iter().for_each(|l| sizes[*l] += 1);
    let mut total = 0.0;
    for (point, own) in points.iter().zip(&labels) {
        if sizes[*own] == 1 {
            continue;
        }
        let mut sums = vec![0.0; k];
        for (other, label) in points.iter().zip(&labels) {
            sums[*label] += squared_distance(point, other).sqrt();
        }
        let a = sums[*own] / (sizes[*own] - 1) as f64;
        let others = (0..k).filter(|l| l != own).map(|l| sums[l] / sizes[l] as f64);
        let b = others.fold(f64::INFINITY, f64::min);
        let larger = a.max(b);
        if larger > 0.0 {
            total += (b - a) / larger;
        }
    }
    Some(total / n as f64)
}
