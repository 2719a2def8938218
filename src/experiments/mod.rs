//! The experiments this program knows.
//!
//! - [`registry`]: from a config to an experiment, and from a recorded run back to one.
//! - [`templates`]: the templates in recorded settings, replaced by those of a folder.
//! - [`story`]: the whole story of a part of a run.
//! - [`study`]: a run about to be recorded, with its settings.
//! - [`edition`]: which rules of ours a run follows; [`carried`]: what facts carry for the fold alone.
//! - [`reenact`]: original runs of other programs, executed again by ours.
//! - [`adventure`]: a story told by a game master, and a player who chooses.
//! - [`deliberation`]: votes before and after other views.
//! - [`game24`]: the Game of 24.
//! - [`public_goods`]: a public goods game.
//! - [`public_goods_log`]: public goods games that another program has played with local models.
//! - [`society`]: agents who share a world.
//! - [`society_log`]: a society that another program has run.

pub mod adventure;
mod at_once;
pub mod carried;
pub mod deliberation;
pub mod edition;
pub mod game24;
pub mod public_goods;
pub mod public_goods_log;
mod random;
pub mod reenact;
pub mod registry;
pub mod society;
pub mod society_log;
pub mod story;
pub mod study;
pub mod templates;
mod word_vector;
