//! How well judges agree: parsers, models or people who decided about the same answers.

mod kappa;
mod krippendorff;
mod rated;

use serde::Serialize;

use crate::interval::Interval;

pub use kappa::cohens_kappa;
pub use krippendorff::{MeasurementLevel, krippendorffs_alpha};
pub use rated::{Disagreement, PairedRaters, RatedAnswers, Rater, RaterError, RaterPair};

/// A coefficient of agreement: 1 if judges agree throughout, 0 if they agree as often as by chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// The coefficient.
    pub value: f64,
    /// Its 95 % interval, if one can be given.
    pub interval: Option<Interval>,
    /// How many things were judged by at least two.
    pub units: u64,
}
