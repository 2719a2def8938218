//! The program `retold`: its studies, and the command that only one of them has.

mod personas;

use retold_study::error::Clash;

use crate::catalogue::Catalogue;

/// The five studies.
///
/// # Errors
/// [`Clash`], which does not occur in practice: all names differ.
pub fn catalogue() -> Result<Catalogue, Clash> {
    let mut catalogue = Catalogue::new(retold_studies::studies())?;
    catalogue.commands.push(personas::command());
    Ok(catalogue)
}
