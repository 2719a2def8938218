//! Points in a plane: the two directions in which they differ most.

use super::vectors::Point;

/// How often a direction is refined. Directions of similar strength come out mixed, which makes no
/// visible difference in a plot.
const STEPS: usize = 200;

/// Each point's coordinates along the first two principal components, centred on the mean of all
/// points. The sign is chosen so that the coordinate farthest from 0 is positive. Deterministic:
/// the components come from power iteration that starts at the point farthest from the mean.
pub fn in_a_plane(points: &[Point]) -> Vec<[f64; 2]> {
    let width = points.iter().map(Vec::len).max().unwrap_or(0);
    let mut rest: Vec<Point> = points
        .iter()
        .map(|point| (0..width).map(|at| point.get(at).copied().unwrap_or(0.0)).collect())
        .collect();
    let n = rest.len().max(1) as f64;
    let mean: Point = (0..width).map(|at| rest.iter().map(|p| p[at]).sum::<f64>() / n).collect();
    rest.iter_mut().for_each(|point| point.iter_mut().zip(&mean).for_each(|(x, m)| *x -= m));
    let mut plane = vec![[0.0; 2]; points.len()];
    for axis in 0..2 {
        let Some(direction) = strongest(&rest) else { break };
        let mut along: Vec<f64> = rest.iter().map(|point| dot(point, &direction)).collect();
        let farthest = along.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let sign = if farthest.is_some_and(|x| x < 0.0) { -1.0 } else { 1.0 };
        for (point, x) in rest.iter_mut().zip(&along) {
            point.iter_mut().zip(&direction).for_each(|(p, d)| *p -= x * d);
        }
        along.iter_mut().for_each(|x| *x *= sign);
        plane.iter_mut().zip(along).for_each(|(place, x)| place[axis] = x);
    }
    plane
}

/// The direction of the largest variance of centred points, of length 1; `None` if they do not
/// differ.
fn strongest(points: &[Point]) -> Option<Point> {
    let length = |v: &[f64]| dot(v, v).sqrt();
    let start = points.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))?;
    // If the points do not differ, what remains is rounding error and not a direction.
    let mut direction = scale(start, length(start)).filter(|_| length(start) > 1e-9)?;
    for _ in 0..STEPS {
        let mut next = vec![0.0; direction.len()];
        for point in points {
            let along = dot(point, &direction);
            next.iter_mut().zip(point).for_each(|(n, x)| *n += along * x);
        }
        direction = scale(&next, length(&next))?;
    }
    Some(direction)
}

fn scale(v: &[f64], length: f64) -> Option<Point> {
    (length > 0.0).then(|| v.iter().map(|x| x / length).collect())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
