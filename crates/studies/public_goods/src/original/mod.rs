//! Original games: public goods games played by other programs.
//!
//! - `tagged`: answers in tags, and tables of the games. [`PublicGoods`](crate::PublicGoods) plays
//!   them again.
//! - `config`: the config that the original program wrote down, for a new run.
//! - [`local`]: prompts and answers of local models, which a separate experiment asks again word
//!   for word.

pub(crate) mod config;
pub mod local;
mod tagged;

use std::path::Path;

use retold_study::original::{Original, OriginalError};

/// Reads a folder of original games, for `retold import public-goods FOLDER`; its files determine
/// the kind.
///
/// # Errors
/// [`OriginalError`] for a missing or invalid file, with the line.
pub fn read(folder: &Path) -> Result<Original, OriginalError> {
    if local::is_one(folder) { local::read(folder) } else { tagged::read(folder) }
}
