//! The Game of 24: puzzles of four numbers, with many independent answers to each prompt.
//!
//! Calls are named `solve/<row>` (the row of the puzzle list, from 0); samples count from 0.
//!
//! - [`Game24`]: the experiment. [`GradedPuzzle`] is its fact, [`Tally`] its state.
//! - [`parse`]: the parser of its answers, and the validator.
//! - [`Game24Study`]: the study as a program offers it.
//! - [`load`]: from a config to complete settings.
//! - [`SimulatedSolver`]: plays it for the simulated model.

mod charts;
mod config;
mod counted;
mod experiment;
mod figures;
mod outputs;
pub mod parse;
mod puzzles;
mod samples;
mod simulated;
mod state;
mod study;

pub use config::{Config, PuzzlesConfig, Settings, load};
pub use experiment::Game24;
pub use puzzles::{BUILT_IN, Puzzle, PuzzleError};
pub use samples::SampleCounts;
pub use simulated::SimulatedSolver;
pub use state::{GradedPuzzle, Tally};
pub use study::Game24Study;

/// The experiment's name.
pub const NAME: &str = "game24";
