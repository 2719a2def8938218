//! Distances and means.

/// A point: all points of one call have the same number of coordinates.
pub type Point = Vec<f64>;

/// An embedding as a point. Every 32-bit float is exactly a 64-bit float.
pub fn point(vector: &[f32]) -> Point {
    vector.iter().copied().map(f64::from).collect()
}

/// The square of the Euclidean distance.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// One minus the cosine of the angle: 0 for the same direction, 2 for the opposite one. `None` if
/// one of them has length zero.
pub fn cosine_distance(a: &[f64], b: &[f64]) -> Option<f64> {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let norms = norm(a) * norm(b);
    (norms > 0.0).then(|| 1.0 - dot / norms)
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The weighted mean of points. `None` if the weights add up to zero.
pub fn weighted_mean<'a>(points: impl IntoIterator<Item = (&'a [f64], f64)>) -> Option<Point> {
    let mut sum: Point = Vec::new();
    let mut total = 0.0;
    for (point, weight) in points {
        sum.resize(sum.len().max(point.len()), 0.0);
        sum.iter_mut().zip(point).for_each(|(s, x)| *s += x * weight);
        total += weight;
    }
    (total > 0.0).then(|| sum.into_iter().map(|s| s / total).collect())
}
