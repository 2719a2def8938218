//! K-means by linfa, seeded, with restarts.

use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::{KMeans, KMeansInit};
use linfa_nn::distance::L2Dist;
use ndarray::Array2;
use rand_xoshiro::Xoshiro256Plus;
use rand_xoshiro::rand_core::SeedableRng;

use super::labels::in_order_of_appearance;
use super::vectors::{Point, squared_distance, weighted_mean};

/// Starts from so many seeded centres, and the best end counts. scikit-learn's customary 10 misses
/// the optimum of small groups now and then; these starts are cheap.
const STARTS: usize = 30;

/// The most rounds of one start.
const ROUNDS: u64 = 300;

/// The labels of `k` clusters of least squared distance to their centres, as far as [`STARTS`]
/// seeded starts find them. Where points coincide there may be fewer clusters. `None` if there are
/// fewer points than clusters, or a coordinate is not finite.
pub fn kmeans(points: &[Point], k: usize, seed: u64) -> Option<Vec<usize>> {
    if k == 0 || points.len() < k {
        return None;
    }
    let width = points.first()?.len();
    let flat: Vec<f64> = points.iter().flatten().copied().collect();
    if flat.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let data = DatasetBase::from(Array2::from_shape_vec((points.len(), width), flat).ok()?);
    let rng = Xoshiro256Plus::seed_from_u64(seed);
    let fitted = KMeans::params_with(k, rng, L2Dist)
        .init_method(KMeansInit::KMeansPlusPlus)
        .n_runs(STARTS)
        .max_n_iterations(ROUNDS)
        .tolerance(1e-9)
        .fit(&data)
        .ok()?;
    let labels = fitted.predict(&data).to_vec();
    Some(in_order_of_appearance(&settle(points, labels, k)))
}

/// Goes on until no point changes its cluster: linfa stops when the centres hardly move, which may
/// be a round too early.
fn settle(points: &[Point], mut labels: Vec<usize>, k: usize) -> Vec<usize> {
    for _ in 0..ROUNDS {
        let centre = |cluster| {
            let members = points.iter().zip(&labels).filter(move |(_, l)| **l == cluster);
            weighted_mean(members.map(|(p, _)| (p.as_slice(), 1.0)))
        };
        let centres: Vec<Option<Point>> = (0..k).map(centre).collect();
        let nearest = |(point, current): (&Point, &usize)| {
            let distances = centres.iter().enumerate().filter_map(|(cluster, centre)| {
                centre.as_ref().map(|centre| (cluster, squared_distance(point, centre)))
            });
            // In a tie a point stays where it is, or this would not come to an end.
            let order = |(cluster, distance): &(usize, f64)| (*distance, cluster != current);
            let best = distances.min_by(|a, b| {
                let (a, b) = (order(a), order(b));
                a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
            });
            best.map_or(*current, |(cluster, _)| cluster)
        };
        let next: Vec<usize> = points.iter().zip(&labels).map(nearest).collect();
        if next == labels {
            break;
        }
        labels = next;
    }
    labels
}
