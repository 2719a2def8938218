//! Original games: public goods games that other programs have played.
//!
//! - `tagged`: answers in tags and tables of the games. [`PublicGoods`](crate::PublicGoods) plays them again.
//! - [`local`]: prompts and answers of local models, which an experiment of its own asks again word for word.

pub mod local;
mod tagged;

use std::path::Path;

use retold_study::original::{Original, OriginalError};

/// Reads a folder of original games, for `retold import public-goods FOLDER`: which kind they are is seen in its files.
///
/// # Errors
/// [`OriginalError`]: a file that is missing, or is not what it should be, with the line.
pub fn read(folder: &Path) -> Result<Original, OriginalError> {
    if local::is_one(folder) { local::read(folder) } else { tagged::read(folder) }
}
