//! Draws by cluster.

use std::collections::BTreeMap;

use crate::FigureKind;
use crate::interval::FEWEST_CLUSTERS;

/// The sum and the number of draws, cluster by cluster. Draws of one cluster are not independent of each other, such as
/// the answers of one participant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClusteredDraws(pub(crate) BTreeMap<String, [f64; 2]>);

impl ClusteredDraws {
    /// Adds a draw.
    pub fn add(&mut self, cluster: &str, value: f64) {
        self.add_all(cluster, value, 1.0);
    }

    /// Adds several draws of a cluster by their sum.
    pub fn add_all(&mut self, cluster: &str, sum: f64, count: f64) {
        if !self.0.contains_key(cluster) {
            self.0.insert(cluster.to_owned(), [0.0; 2]);
        }
        if let Some([all, n]) = self.0.get_mut(cluster) {
            *all += sum;
            *n += count;
        }
    }

    /// The sum of all draws, and their number.
    pub(crate) fn total(&self) -> (f64, f64) {
        self.0.values().fold((0.0, 0.0), |(sum, count), [s, n]| (sum + s, count + n))
    }

    /// The clusters by name, each with the number of its draws and their sum.
    pub fn sums(&self) -> impl Iterator<Item = (&str, f64, f64)> {
        self.0.iter().map(|(cluster, [sum, count])| (cluster.as_str(), *count, *sum))
    }

    /// How many draws there are.
    pub fn count(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        return self.total().1 as u64;
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether every draw is a cluster of its own.
    pub fn are_independent(&self) -> bool {
        self.0.values().all(|[_, n]| *n <= 1.0)
    }

    /// The mean of all draws; `None` without draws.
    pub fn mean(&self) -> Option<f64> {
        let (sum, count) = self.total();
        (count > 0.0).then(|| sum / count)
    }

    /// The means of the clusters, each as a draw of its own.
    pub fn cluster_means(&self) -> Self {
        let mean = |(cluster, [sum, n]): (&String, &[f64; 2])| (cluster.clone(), [sum / n, 1.0]);
        ClusteredDraws(self.0.iter().map(mean).collect())
    }

    /// The means of the clusters, in order, where too few have an interval: they are shown instead.
    pub fn dots(&self, kind: FigureKind) -> Vec<f64> {
        let is_exact = kind == FigureKind::Share && self.are_independent();
        if is_exact || self.clusters() >= FEWEST_CLUSTERS {
            return Vec::new();
        }
        let mut dots: Vec<f64> = self.0.values().map(|[sum, n]| sum / n).collect();
        dots.sort_by(f64::total_cmp);
        dots
    }
}

/// The number of clusters of one size that would say as much as clusters of these sizes (Kish 1965).
pub(crate) fn effective_number(sizes: impl Iterator<Item = f64>) -> f64 {
    let (sum, squares) = sizes.fold((0.0, 0.0), |(sum, all), n| (sum + n, all + n * n));
    sum * sum / squares
}
