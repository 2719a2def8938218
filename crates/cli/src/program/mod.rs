//! The program `retold`: its studies, and the command that only one of them has.

mod personas;

use retold_study::error::Clash;

use crate::catalogue::Catalogue;

/// The five studies.
///
/// # Errors
/// [`Clash`], which does not occur in practice: all names differ.
pub fn catalogue() -> Result<Catalogue, Clash> {
    let mut catalogue = Catalogue::new([
        &retold_game24::Game24Study as &dyn retold_study::Registration,
        &retold_deliberation::DeliberationStudy,
        &retold_public_goods::PublicGoodsStudy,
        &retold_public_goods::OriginalGamesStudy,
        &retold_society::SocietyStudy,
        &retold_society::OriginalSocietiesStudy,
        &retold_adventure::AdventureStudy,
    ])?;
    catalogue.commands.push(personas::command());
    Ok(catalogue)
}
