//! The experiments this program knows.
//!
//! - [`registry`]: from a config to an experiment, and from a recorded run back to one.
//! - [`reenact`]: original runs of other programs, executed again by ours.
//! - [`deliberation`]: votes before and after other views.
//! - [`game24`]: the Game of 24.
//! - [`public_goods`]: a public goods game.
//! - [`society`]: agents who share a world.
//! - [`society_log`]: a society that another program has run.

pub mod deliberation;
pub mod game24;
pub mod public_goods;
mod random;
pub mod reenact;
pub mod registry;
pub mod society;
pub mod society_log;
mod word_vector;
