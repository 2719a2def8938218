//! How well judges agree: parsers, models or people who decided about the same answers.

mod kappa;
mod krippendorff;
mod matrix;
mod numbered;
mod paired;
mod rated;
mod rating;

use serde::Serialize;

use crate::interval::Interval;

pub use kappa::cohens_kappa;
pub use krippendorff::{MeasurementLevel, krippendorffs_alpha};
pub use matrix::ValueMatrix;
pub use paired::{PairedRaters, Rater, RaterPair};
pub use rated::{RatedAnswers, RatedPlace, RaterError, RatingChoice};
pub use rating::AnswerRatings;

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

/// An interval within the range of coefficients.
fn within_range(Interval { low, high, method }: Interval) -> Interval {
    Interval { low: low.max(-1.0), high: high.min(1.0), method }
}

/// A coefficient with its interval, as people read it.
pub fn coefficient_text(of: Option<Agreement>) -> String {
    match of {
        None => "not defined (no two values can differ)".to_owned(),
        // No interval: nothing varies, or there are few units. A zero may be negative.
        Some(Agreement { value, interval: None, .. }) => format!("{:.3}", value + 0.0),
        Some(Agreement { value, interval: Some(interval), .. }) => {
            format!("{value:.3} [{:.3}, {:.3}]", interval.low, interval.high)
        }
    }
}
