//! Merges many clusters into fewer, so that drawing at random takes no longer.

use std::borrow::Cow;

use retold::run::{rng_for, shuffle};

/// The sums of one cluster: of the draws, and of their number; twice for two groups.
pub(crate) type Sums<const N: usize> = [f64; N];

/// The most clusters that are drawn one by one. Of more, equally many are put together: sets of independent clusters are
/// independent as well.
pub const MOST_CLUSTERS: usize = 10_000;

/// How many of so many clusters are put together.
pub(crate) fn set_size(clusters: usize) -> usize {
    clusters.div_ceil(MOST_CLUSTERS).max(1)
}

/// Clusters in sets of a size, which differ by at most one. Which are together is drawn: their order may mean something, and
/// then sets of neighbours, or of every n-th, would be too different or too much alike.
pub(crate) fn merge<const N: usize>(clusters: &[Sums<N>], size: usize) -> Cow<'_, [Sums<N>]> {
    if size <= 1 {
        return Cow::Borrowed(clusters);
    }
    let mut sets = vec![[0.0; N]; clusters.len().div_ceil(size)];
    let count = sets.len();
    let mut drawn: Vec<&Sums<N>> = clusters.iter().collect();
    shuffle(&mut drawn, &mut rng_for(0, "sets of clusters"));
    for (at, cluster) in drawn.into_iter().enumerate() {
        sets[at % count].iter_mut().zip(cluster).for_each(|(all, more)| *all += more);
    }
    Cow::Owned(sets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_clusters_stay_as_they_are_and_many_become_as_many_as_are_drawn() {
        let clusters = |count: usize| vec![[1.0, 1.0]; count];
        for (count, size, sets) in [(0, 1, 0), (1, 1, 1), (10_000, 1, 10_000), (10_001, 2, 5_001)] {
            assert_eq!(set_size(count), size);
            let found = merge(&clusters(count), size).into_owned();
            assert_eq!(found.len(), sets);
            let sums: Vec<f64> = found.iter().map(|[_, n]| *n).collect();
            assert_eq!(sums.iter().sum::<f64>(), count as f64);
            let (least, most) =
                (sums.iter().copied().reduce(f64::min), sums.into_iter().reduce(f64::max));
            assert!(most.zip(least).is_none_or(|(most, least)| most - least <= 1.0));
        }
    }

    /// An interval from sets is that from single clusters, but for chance.
    #[test]
    fn the_interval_of_many_draws_is_the_normal_one() {
        let mut draws = crate::ClusteredDraws::default();
        // They grow with their place.
        (0..30_000_u32).for_each(|n| draws.add(&format!("{n:05}"), f64::from(n / 3_000)));
        let found = draws.interval(crate::FigureKind::Mean, "test").unwrap();
        let half = crate::Z * (8.25_f64 / 30_000.0).sqrt();
        assert!((found.low - (4.5 - half)).abs() < 0.003, "{found:?}");
        assert!((found.high - (4.5 + half)).abs() < 0.003, "{found:?}");
    }
}
