//! Seeded k-means with restarts, by linfa.

use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::{KMeans, KMeansInit};
use linfa_nn::distance::L2Dist;
use ndarray::Array2;
use rand_xoshiro::Xoshiro256Plus;
use rand_xoshiro::rand_core::SeedableRng;

use super::labels::in_order_of_appearance;
use super::vectors::{Point, squared_distance, weighted_mean};

/// The number of seeded starts, of which the best result counts. scikit-learn's usual 10
/// occasionally miss the optimum of small groups.
const STARTS: u64 = 30;

/// The most iterations per start.
const ROUNDS: u64 = 300;

/// The labels of `k` clusters with the least squared distance to their centres that `STARTS` seeded
/// starts find. If points coincide, there may be fewer clusters. `None` if there are fewer points
/// than clusters, or if a coordinate is not finite.
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
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in 0..STARTS {
        let rng = Xoshiro256Plus::seed_from_u64(seed.wrapping_add(start));
        let fitted = KMeans::params_with(k, rng, L2Dist)
            .init_method(KMeansInit::KMeansPlusPlus)
            .n_runs(1)
            .max_n_iterations(ROUNDS)
            .tolerance(1e-6)
            .fit(&data)
            .ok()?;
        let (cost, labels) = settle(points, fitted.predict(&data).to_vec(), k);
        // Rounding errors must not decide between two starts that found the same clusters.
        if best.as_ref().is_none_or(|(least, _)| cost < least - least.abs() * 1e-12) {
            best = Some((cost, labels));
        }
    }
    best.map(|(_, labels)| in_order_of_appearance(&labels))
}

/// Moves single points as long as a move lowers the cost, and returns the final cost. (Hartigan's
/// rule, which also leaves optima that linfa's rule, Lloyd's, is stuck in.)
fn settle(points: &[Point], mut labels: Vec<usize>, k: usize) -> (f64, Vec<usize>) {
    let mut centres: Vec<(f64, Point)> = (0..k).map(|c| centre(points, &labels, c)).collect();
    for _ in 0..ROUNDS {
        let mut moved = false;
        for (i, point) in points.iter().enumerate() {
            let own = labels[i];
            let (size, place) = &centres[own];
            if *size <= 1.0 {
                continue;
            }
            let saved = size / (size - 1.0) * squared_distance(point, place);
            let costs = centres.iter().enumerate().filter(|(c, _)| *c != own).map(|(c, centre)| {
                let (size, place) = centre;
                (c, size / (size + 1.0) * squared_distance(point, place))
            });
            let Some((other, cost)) = costs.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
            // Ignore gains within rounding error: otherwise two points could swap places forever.
            if cost < saved * (1.0 - 1e-9) {
                labels[i] = other;
                shift(&mut centres[own], point, -1.0);
                shift(&mut centres[other], point, 1.0);
                moved = true;
            }
        }
        // Removes the rounding errors that the moves have accumulated.
        centres = (0..k).map(|c| centre(points, &labels, c)).collect();
        if !moved {
            break;
        }
    }
    let cost = points.iter().zip(&labels).map(|(p, l)| squared_distance(p, &centres[*l].1)).sum();
    (cost, labels)
}

/// The centre after a point was added (1) or removed (-1).
fn shift((size, place): &mut (f64, Point), point: &[f64], by: f64) {
    *size += by;
    if place.is_empty() {
        place.resize(point.len(), 0.0);
    }
    place.iter_mut().zip(point).for_each(|(c, x)| *c += by * (x - *c) / *size);
}

/// The number of points in a cluster, and their mean.
fn centre(points: &[Point], labels: &[usize], cluster: usize) -> (f64, Point) {
    let members = points.iter().zip(labels).filter(|(_, label)| **label == cluster);
    let size = members.clone().count() as f64;
    let mean = weighted_mean(members.map(|(point, _)| (point.as_slice(), 1.0)));
    (size, mean.unwrap_or_default())
}
