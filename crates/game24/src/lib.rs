//! The Game of 24: puzzles of four numbers, with many independent answers to each prompt.
//!
//! Calls are named `solve/<row>` (the row of the puzzle list, from 0); samples count from 0.
//!
//! - [`Game24`]: the experiment. [`Graded`] is its fact, [`Tally`] its state.
//! - [`parse`]: the parser of its answers, and the validator.
//! - [`Registered`]: the study as a program offers it.
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
mod registered;
mod samples;
mod simulated;
mod state;

pub use config::{Config, PuzzlesConfig, Settings, load};
pub use experiment::Game24;
pub use puzzles::{BUILT_IN, Puzzle, PuzzleError};
pub use registered::Registered;
pub use samples::Samples;
pub use simulated::SimulatedSolver;
pub use state::{Graded, Tally};

/// The experiment's name.
pub const NAME: &str = "game24";
