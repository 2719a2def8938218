//! The positions of players by their reasoning.

use retold_stats::{Point, weighted_mean};

/// The mean of a player's vectors; `None` if there are none, or their lengths differ.
pub(super) fn mean(points: &[Point]) -> Option<Point> {
    let same = points.windows(2).all(|pair| pair[0].len() == pair[1].len());
    same.then(|| weighted_mean(points.iter().map(|p| (p.as_slice(), 1.0)))).flatten()
}
