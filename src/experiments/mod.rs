//! The experiments this program knows.
//!
//! - [`registry`]: from a config to an experiment, and from a recorded run back to one.
//! - [`reenact`]: original runs of other programs, executed again by ours.
//! - [`deliberation`]: votes before and after other views.
//! - [`game24`]: the Game of 24.

pub mod deliberation;
pub mod game24;
pub mod reenact;
pub mod registry;
