//! How wide the interval of a figure will be, before anything is paid for.
//!
//! The width follows from the draws, from their clusters, and from how much the answers vary, which nobody knows before they
//! are asked for. So there are two widths:
//!
//! - **as in the model run**, another run with the same draws and clusters (a simulated one, or an earlier one): the width
//!   of its interval;
//! - **at worst**, for a share: half of the clusters answer one way and half the other, and all draws of a cluster are alike.
//!   A share varies most at 50 % (its variance is p (1 - p)), and draws of clusters most if they are alike (the design
//!   effect is then the size of a cluster: L. Kish, Survey Sampling, 1965).
//!
//! Both intervals are computed as those of recorded runs are, so that they have the same width where the answers vary alike.

use serde::Serialize;

use crate::draws::ClusteredDraws;
use crate::{FigureGroup, FigureKind, FigureTable, Interval};

/// How wide the interval of a figure will be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedInterval {
    /// The figure.
    pub name: String,
    /// How it is read.
    pub kind: FigureKind,
    /// Draws.
    pub draws: u64,
    /// Clusters.
    pub clusters: u64,
    /// The kind of cluster.
    pub unit: String,
    /// The value in the model run; `None` without draws.
    pub value: Option<f64>,
    /// Half the width of the interval in the model run; `None` if it has none.
    pub half_width: Option<f64>,
    /// Half the width at worst; `None` for means, whose draws have no greatest value, and with too few clusters.
    pub half_width_at_worst: Option<f64>,
}

/// How many times as wide the interval of a difference is as those of two figures that are independent of each other and
/// have equally wide intervals: their variances add up.
pub const WIDER_DIFFERENCE: f64 = std::f64::consts::SQRT_2;

fn half_width(interval: Interval) -> f64 {
    (interval.high - interval.low) / 2.0
}

/// Draws of a share at worst, in clusters of these sizes: every other cluster, by size, answers the other way.
fn worst_draws(mut sizes: Vec<f64>) -> ClusteredDraws {
    sizes.sort_by(f64::total_cmp);
    let mut draws = ClusteredDraws::default();
    for (at, size) in sizes.into_iter().enumerate() {
        let sum = if at % 2 == 0 { 0.0 } else { size };
        draws.add_all(&at.to_string(), sum, size);
    }
    draws
}

impl FigureTable {
    /// How wide the intervals of its groups will be in runs like these. At worst, the clusters of a group are taken as equally
    /// large.
    pub fn expected_intervals(&self) -> Vec<ExpectedInterval> {
        let of = |group: &FigureGroup| {
            let FigureGroup { draws, clusters, value, interval, .. } = group;
            let name = std::iter::once(self.title())
                .chain(self.cells(group).into_iter().take(self.labels.len()));
            let name = name.collect::<Vec<_>>().join(", ");
            let at_worst = || {
                let size = *draws as f64 / *clusters as f64;
                let sizes = (0..*clusters).map(|_| size).collect();
                worst_draws(sizes).interval(self.kind).map(half_width)
            };
            let is_share = self.kind == FigureKind::Share && *clusters > 0;
            ExpectedInterval {
                kind: self.kind,
                draws: *draws,
                clusters: *clusters,
                unit: self.clusters_in_words(),
                value: *value,
                half_width: interval.map(half_width),
                half_width_at_worst: is_share.then(at_worst).flatten(),
                name,
            }
        };
        self.groups.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha12Rng;
    use retold::run::{below, rng_for};

    use super::*;
    use crate::ClusteringUsed;
    use crate::definition::CountedUnit;

    /// What runs are drawn from: so many clusters of so many draws, the true share in per cent, and in per cent how many
    /// clusters are alike throughout. The intraclass correlation is the latter.
    #[derive(Debug, Clone, Copy)]
    struct Population {
        clusters: usize,
        size: u32,
        share: usize,
        alike: usize,
    }

    impl Population {
        fn run(self, rng: &mut ChaCha12Rng) -> ClusteredDraws {
            let mut hit = |share| below(100, rng) < share;
            let mut draws = ClusteredDraws::default();
            for cluster in 0..self.clusters {
                let sum = match hit(self.alike) {
                    true => {
                        if hit(self.share) {
                            self.size
                        } else {
                            0
                        }
                    }
                    false => (0..self.size).map(|_| u32::from(hit(self.share))).sum(),
                };
                draws.add_all(&cluster.to_string(), f64::from(sum), f64::from(self.size));
            }
            draws
        }
    }

    /// The expected interval of the only group of a figure with these draws.
    fn expected_of(kind: FigureKind, draws: ClusteredDraws) -> ExpectedInterval {
        let group = FigureGroup {
            group: Vec::new(),
            draws: draws.count(),
            clusters: draws.clusters(),
            missing: 0,
            fallback: 0,
            value: draws.mean(),
            interval: draws.interval(kind),
            dots: Vec::new(),
            values: Vec::new(),
            changes: Vec::new(),
            narrow: None,
        };
        let table = FigureTable {
            figure: "share of vote = yes".to_owned(),
            kind,
            per: CountedUnit::Answer,
            clusters: ClusteringUsed::By("game".to_owned()),
            labels: Vec::new(),
            paired_by_name: true,
            groups: vec![group],
            differences: Vec::new(),
            lacks_baseline: false,
            shared: 0,
            simulated: 0,
            refused: 0,
            judged: Vec::new(),
            has_earlier_facts: false,
            finding: None,
        };
        table.expected_intervals().remove(0)
    }

    fn expected(draws: ClusteredDraws) -> ExpectedInterval {
        expected_of(FigureKind::Share, draws)
    }

    /// Runs are drawn; what one run foretells holds for the next: its own interval is as wide, and an interval of the
    /// foretold width around its share has the true share in it as often as it should.
    #[test]
    fn the_width_that_one_run_foretells_is_that_of_the_next() {
        let populations =
            [(100, 1, 30, 0), (200, 1, 50, 0), (60, 5, 40, 0), (60, 5, 40, 40), (60, 4, 50, 100)];
        for (clusters, size, share, alike) in populations {
            let population = Population { clusters, size, share, alike };
            let mut rng = rng_for(1, &format!("{population:?}"));
            let (runs, truth) = (150, share as f64 / 100.0);
            let (mut foretold, mut found, mut covered, mut covered_at_worst) = (0.0, 0.0, 0, 0);
            for _ in 0..runs {
                let expected = expected(population.run(&mut rng));
                let (half, worst) =
                    (expected.half_width.unwrap(), expected.half_width_at_worst.unwrap());
                let next = population.run(&mut rng);
                let own = half_width(next.interval(FigureKind::Share).unwrap());
                assert!(own <= worst * 1.1, "{population:?}: {own} {worst}");
                foretold += half;
                found += own;
                let distance = (next.mean().unwrap() - truth).abs();
                covered += u32::from(distance <= half);
                covered_at_worst += u32::from(distance <= worst);
            }
            let ratio = foretold / found;
            assert!((ratio - 1.0).abs() < 0.05, "{population:?}: {ratio}");
            let of = |covered: u32| f64::from(covered) / f64::from(runs);
            assert!((of(covered) - 0.95).abs() < 0.04, "{population:?}: {}", of(covered));
            assert!(of(covered_at_worst) > 0.92, "{population:?}: {}", of(covered_at_worst));
        }
    }

    /// Where the worst is the truth, it is not too wide either.
    #[test]
    fn at_worst_is_no_wider_than_what_can_happen() {
        let population = Population { clusters: 400, size: 4, share: 50, alike: 100 };
        let expected = expected(population.run(&mut rng_for(1, "worst")));
        let (half, worst) = (expected.half_width.unwrap(), expected.half_width_at_worst.unwrap());
        assert!((half / worst - 1.0).abs() < 0.05, "{expected:?}");
        // The normal interval of clusters that are alike throughout.
        let normal = 1.96 * 0.5 / 400.0_f64.sqrt();
        assert!((worst / normal - 1.0).abs() < 0.05, "{worst} {normal}");
    }

    #[test]
    fn at_worst_is_the_exact_interval_of_independent_draws() {
        let population = Population { clusters: 100, size: 1, share: 10, alike: 0 };
        let expected = expected(population.run(&mut rng_for(1, "independent")));
        let half = half_width(crate::clopper_pearson(50.0, 100.0).unwrap());
        assert_eq!(expected.half_width_at_worst, Some(half));
        assert!(expected.half_width.unwrap() < half);
    }

    #[test]
    fn without_clusters_or_bounds_nothing_is_foretold() {
        let one = Population { clusters: 1, size: 4, share: 50, alike: 0 };
        let one = expected(one.run(&mut rng_for(1, "one")));
        assert_eq!((one.half_width, one.half_width_at_worst), (None, None));
        let mean =
            Population { clusters: 9, size: 4, share: 50, alike: 0 }.run(&mut rng_for(1, "mean"));
        let mean = expected_of(FigureKind::Mean, mean);
        assert!(mean.half_width.is_some() && mean.half_width_at_worst.is_none(), "{mean:?}");
    }
}
