//! Recorded prompts that are asked again, to find out whether a model still answers as it did: an experiment, so that each look
//! is a run that can be replayed, continued and verified as any other.
//!
//! Calls are named `again/SEQ`, by the seq of the recorded answer, and have the labels of its call.
//!
//! - [`DriftSettings`]: the drawn answers, and how often each is asked for again. [`Drift`]: the experiment.
//! - [`DriftComparison`]: old and new decisions, compared within each prompt. [`DriftPower`]: what such a look can find.
//! - [`DriftStudy`]: the study as a program offers it.

mod comparison;
mod experiment;
mod permutation;
mod power;
mod settings;
mod study;

pub use comparison::{ComparedAnswer, ComparedDecision, DriftComparison, ShiftedValue};
pub use experiment::{AskedAgain, Drift, DriftTally};
pub use power::DriftPower;
pub use settings::{DrawnAnswer, DriftSettings};
pub use study::DriftStudy;

/// The experiment's name.
pub const NAME: &str = "drift";

/// The level of a look: how often it says that something changed, at most, where nothing did.
pub const LEVEL: f64 = 0.05;
