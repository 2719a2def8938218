//! The figures that the report leads with.

use super::experiment::Adventure;
use super::facts::GameEnding;
use super::state::{AdventureGame, Games, JournalEntry};
use retold::run::fold_facts;
use retold_figures::{Draws, Figure, FigureKind};
use retold_study::error::BoxError;
use serde_json::Value;

/// How many games were told to their end; and of their turns, the share with a decision point, with
/// a fight, and without anything offered, and how many answers could not be used.
///
/// The games are independent of each other; the turns of one follow from each other, so each game is
/// a cluster.
pub(crate) fn figures(facts: &[Value]) -> Result<Vec<Figure>, BoxError> {
    let games: Games = fold_facts::<Adventure>(facts)?;
    let share = |name: &str, is_so: &dyn Fn(&JournalEntry) -> bool| {
        let count =
            |game: &AdventureGame| game.journal.iter().filter(|entry| is_so(entry)).count() as f64;
        by_turn(&games, name, FigureKind::Share, &count)
    };
    let unusable =
        |game: &AdventureGame| game.journal.iter().map(|entry| f64::from(entry.unusable)).sum();
    Ok(vec![
        share_told(&games),
        share("turns with a decision point", &|entry| entry.offer.decision.is_some()),
        share("turns with a fight", &|entry| entry.opponent.is_some()),
        share("turns in which nothing was offered", &|entry| entry.offer.default),
        by_turn(&games, "unusable answers per turn", FigureKind::Mean, &unusable),
    ])
}

/// Of the games that have ended, the share whose last turn has a narrative.
fn share_told(games: &Games) -> Figure {
    let draws = games.games.iter().filter_map(|(number, game)| {
        let ending = game.ending.as_ref()?;
        let lane = format!("game_{number}");
        let sum = f64::from(u8::from(*ending == GameEnding::Told));
        Some(Draws { cluster: lane.clone(), lane, sum, count: 1 })
    });
    Figure {
        name: "games told to the end".to_owned(),
        pointer: None,
        kind: FigureKind::Share,
        unit: "games: each of them is one draw",
        draws: draws.collect(),
    }
}

/// A mean over all turns of all games.
fn by_turn(
    games: &Games,
    name: &str,
    kind: FigureKind,
    sum: &dyn Fn(&AdventureGame) -> f64,
) -> Figure {
    let draws = games.games.iter().map(|(number, game)| {
        let lane = format!("game_{number}");
        let count = u32::try_from(game.journal.len()).unwrap_or(u32::MAX);
        Draws { cluster: lane.clone(), lane, sum: sum(game), count }
    });
    Figure {
        name: name.to_owned(),
        pointer: None,
        kind,
        unit: "games: the turns of a game follow from each other",
        draws: draws.collect(),
    }
}
