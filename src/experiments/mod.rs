//! The experiments this program knows.
//!
//! - [`registry`]: from a config to an experiment, and from a recorded run back to one.
//! - [`reenact`]: original runs of other programs, executed again by ours.
//! - [`deliberation`]: votes before and after other views.
//! - [`game24`]: the Game of 24.
//! - [`public_goods`]: a public goods game.

pub mod deliberation;
pub mod game24;
pub mod public_goods;
mod random;
pub mod reenact;
pub mod registry;
mod word_vector;
