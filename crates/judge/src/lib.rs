//! A model that judges the answers of a recorded run: an experiment over those answers, so that it can be replayed, continued
//! and forked as any other.
//!
//! Calls are named `judge/SEQ`, by the answer's seq in the judged run, and have the labels of its call. Of several judges, each has
//! a call below it, `judge/SEQ/N`, and a pair in the other order has `swapped` below that.
//!
//! - [`JudgeConfig`]: the file; [`JudgeSettings`]: the recorded settings, with the answers to be judged.
//! - [`Judge`]: the experiment. [`Judged`] is its fact, [`JudgeTally`] its state.
//! - [`JudgeStudy`]: the study as a program offers it; [`SimulatedJudge`] plays it for the simulated model.

mod config;
mod experiment;
mod judging;
mod rule;
mod simulated;
mod state;
mod study;
mod verdicts;

pub use config::{JudgeConfig, JudgeModel, JudgeSettings, JudgedAnswer, OtherAnswer, load};
pub use experiment::Judge;
pub use rule::VerdictRule;
pub use simulated::SimulatedJudge;
pub use state::{JudgeTally, Judged};
pub use study::JudgeStudy;
pub use verdicts::{JudgeScale, Verdicts};

/// The experiment's name.
pub const NAME: &str = "judge";
