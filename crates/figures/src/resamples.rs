//! The bootstrap against an independent computation: for few clusters, every resample is
//! enumerated, and the interval must be where the exact distribution has its percentiles.

use crate::{Draws, Figure, FigureKind, IntervalMethod, Pairing, RESAMPLES, compared_figures};

/// Sum and number of the draws of some clusters, and the same in a second run.
type Cluster = [f64; 4];

/// The sorted values of all resamples of the clusters. `of` computes a value from the total of a resample.
fn every_resample(clusters: &[Cluster], of: impl Fn(Cluster) -> f64) -> Vec<f64> {
    let n = clusters.len();
    let count = n.pow(u32::try_from(n).unwrap());
    let mut values: Vec<f64> = (0..count)
        .map(|resample| {
            // The digits of its number, with base n, are the clusters that it draws.
            let (mut total, mut rest) = ([0.0; 4], resample);
            for _ in 0..n {
                for (sum, more) in total.iter_mut().zip(clusters[rest % n]) {
                    *sum += more;
                }
                rest /= n;
            }
            of(total)
        })
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Where a value is in a distribution: the shares that are less, and that are at most the same.
fn place(sorted: &[f64], value: f64) -> (f64, f64) {
    let share = |n: usize| n as f64 / sorted.len() as f64;
    let less = sorted.partition_point(|other| *other < value - 1e-12);
    (share(less), share(sorted.partition_point(|other| *other <= value + 1e-12)))
}

/// How far a percentile of a sample may be from the one of its distribution: four standard errors
/// of the share below it.
fn error(share: f64) -> f64 {
    4.0 * (share * (1.0 - share) / RESAMPLES as f64).sqrt()
}

fn assert_percentile(sorted: &[f64], value: f64, share: f64, what: &str) {
    let (least, most) = place(sorted, value);
    let error = error(share);
    assert!(
        least <= share + error && most >= share - error,
        "{what}: {value} is at {least} to {most} of the exact distribution, not at {share}"
    );
}

fn figure(name: &str, clusters: &[Cluster], second: bool) -> Figure {
    let draws = clusters.iter().enumerate().map(|(at, [sum, n, other, m])| Draws {
        lane: at.to_string(),
        cluster: at.to_string(),
        sum: if second { *other } else { *sum },
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        count: if second { *m as u32 } else { *n as u32 },
    });
    Figure {
        name: name.to_owned(),
        pointer: None,
        kind: FigureKind::Mean,
        unit: "clusters: for a test",
        draws: draws.collect(),
    }
}

/// Clusters of unequal sizes and values, the same for each number.
fn clusters(count: u32, seed: u32) -> Vec<Cluster> {
    let number = |at: u32, step: u32, most: u32| {
        f64::from((at * 2_654_435 + seed * 40_503 + step * 97_001) / 7 % most)
    };
    let cluster = |at: u32| {
        [
            number(at, 1, 997) / 10.0,
            1.0 + number(at, 2, 9),
            number(at, 3, 499) / 10.0,
            1.0 + number(at, 4, 5),
        ]
    };
    (0..count).map(cluster).collect()
}

#[test]
fn few_clusters_have_the_percentiles_of_all_their_resamples() {
    for count in 2..=6 {
        for seed in 0..8 {
            let clusters = clusters(count, seed);
            let name = format!("{count} clusters, {seed}");
            let exact = every_resample(&clusters, |[sum, n, ..]| sum / n);
            let estimate = figure(&name, &clusters, false).estimate();
            let found = estimate.interval.unwrap();
            assert_eq!(found.method, IntervalMethod::ClusterBootstrap);
            assert_percentile(&exact, found.low, 0.025, &name);
            assert_percentile(&exact, found.high, 0.975, &name);
        }
    }
}

#[test]
fn differences_have_the_percentiles_of_all_paired_resamples() {
    for count in 2..=6 {
        for seed in 10..14 {
            let clusters = clusters(count, seed);
            let name = format!("{count} pairs, {seed}");
            let exact = every_resample(&clusters, |[sum, n, other, m]| other / m - sum / n);
            let (one, other) = (figure(&name, &clusters, false), figure(&name, &clusters, true));
            let found =
                compared_figures(&[one], &[other], Pairing::Lanes).remove(0).interval.unwrap();
            assert_percentile(&exact, found.low, 0.025, &name);
            assert_percentile(&exact, found.high, 0.975, &name);
        }
    }
}

/// The tests above would notice an interval of 90 %, and one of draws instead of clusters.
#[test]
fn other_intervals_are_told_apart() {
    let clusters = clusters(6, 0);
    let exact = every_resample(&clusters, |[sum, n, ..]| sum / n);
    let at = |share: f64| exact[(share * exact.len() as f64) as usize];
    let is_far = |value: f64| {
        let (least, most) = place(&exact, value);
        least > 0.025 + error(0.025) || most < 0.025 - error(0.025)
    };
    assert!(is_far(at(0.05)) && is_far(at(0.005)) && !is_far(at(0.025)));
    // The same sums as single draws: their variance within a cluster is not that between clusters.
    let single: Vec<Cluster> =
        clusters.iter().map(|[sum, n, ..]| [sum / n, 1.0, 0.0, 1.0]).collect();
    let found = figure("single", &single, false).estimate().interval.unwrap();
    assert!(is_far(found.low), "{found:?}");
}
