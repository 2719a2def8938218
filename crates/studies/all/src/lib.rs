//! The five studies in one list, for the program `retold`, and their parsers in another, for the Python package.

use retold::parse::registry::{Parsers, TwoParsers};
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

/// Their parsers. Whatever takes them from [`studies`] has all the rest of the studies in its binary as well: a module for
/// Python of twice the size.
///
/// # Errors
/// [`TwoParsers`] if two have the same name.
pub fn parsers() -> Result<Parsers, TwoParsers> {
    let mut parsers = Parsers::default();
    parsers.add(retold_game24::Game24Study.parsers())?;
    parsers.add(retold_deliberation::DeliberationStudy.parsers())?;
    parsers.add(retold_public_goods::PublicGoodsStudy.parsers())?;
    parsers.add(retold_public_goods::OriginalGamesStudy.parsers())?;
    parsers.add(retold_society::SocietyStudy.parsers())?;
    parsers.add(retold_society::OriginalSocietiesStudy.parsers())?;
    parsers.add(retold_adventure::AdventureStudy.parsers())?;
    Ok(parsers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retold_study::Studies;

    #[test]
    fn the_parsers_are_those_of_the_studies() {
        let studies = Studies::new(studies()).unwrap();
        assert_eq!(format!("{:?}", parsers().unwrap()), format!("{:?}", studies.parsers()));
    }
}
