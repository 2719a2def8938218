//! 95 % intervals.

use serde::Serialize;

/// The chance with which a 95 % interval may leave out the truth.
pub(crate) const LEVEL: f64 = 0.05;

/// The fewest clusters of a group that has an interval. Fewer do not show how much clusters differ.
pub const FEWEST_CLUSTERS: u64 = 5;

/// So many clusters that the interval of their mean has the truth in it even if a few values are much larger than the others.
pub(crate) const MANY_CLUSTERS: u64 = 300;

/// Why an interval may be too narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NarrowInterval {
    /// It is of a mean of fewer than 300 clusters, whose values may be skewed.
    SkewedMean,
    /// It is of a share near 0 or 1 in clusters of very different sizes.
    RareInUnequalClusters,
}

impl NarrowInterval {
    /// What people should know about it.
    pub fn as_str(self) -> &'static str {
        match self {
            NarrowInterval::SkewedMean => {
                "intervals of means over fewer than 300 clusters are too narrow if a few values are much larger than the \
                 others: they then have the true mean in 82 to 92 of 100 runs, not in 95"
            }
            NarrowInterval::RareInUnequalClusters => {
                "intervals of shares below 20 % or above 80 % in clusters of very different sizes may be too narrow: they have \
                 the true share in 88 to 97 of 100 runs"
            }
        }
    }
}

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// The exact interval of Clopper and Pearson.
    ClopperPearson,
    /// Korn and Graubard's, which is exact for as many draws as say as much as those in clusters.
    KornGraubard,
    /// Student's t of a variance between clusters.
    Cr2,
    /// The method of variance estimates recovery, from the intervals of two shares.
    Mover,
    /// Student's t of a jackknife.
    Jackknife,
}

impl IntervalMethod {
    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            IntervalMethod::ClopperPearson => "Clopper-Pearson",
            IntervalMethod::KornGraubard => "Korn-Graubard",
            IntervalMethod::Cr2 => "CR2",
            IntervalMethod::Mover => "Newcombe",
            IntervalMethod::Jackknife => "jackknife",
        }
    }
}

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How it was computed.
    pub method: IntervalMethod,
}
