//! The five studies in one list, for the program `retold` and for the Python package.

use retold_study::Registration;

/// The studies, in the order in which their parsers are listed. Two of them also have an experiment of their own for
/// original runs.
pub fn studies() -> [&'static dyn Registration; 7] {
    [
        &retold_game24::Game24Study,
        &retold_deliberation::DeliberationStudy,
        &retold_public_goods::PublicGoodsStudy,
        &retold_public_goods::OriginalGamesStudy,
        &retold_society::SocietyStudy,
        &retold_society::OriginalSocietiesStudy,
        &retold_adventure::AdventureStudy,
    ]
}
