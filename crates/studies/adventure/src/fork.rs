//! Forks of a game: another option is taken at some turn.

use retold_study::registration::Choice;
use retold_study::settings::ExperimentSettings;
use serde::Deserialize;
use serde_json::Value;

use super::config::{ForcedChoice, Settings};
use super::facts::Fact;
use super::state::Games;

/// Why a game cannot be forked in this way.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The settings or facts belong to another experiment or release.
    #[error("this is not an adventure of this release: {0}")]
    NotAnAdventure(#[from] serde_json::Error),
    /// There is no such game.
    #[error("there is no game {game}: the games are 1 to {games}")]
    NoSuchGame {
        /// The game asked for.
        game: u32,
        /// How many there are.
        games: usize,
    },
    /// Nothing was chosen in that game.
    #[error("nothing has been chosen in game {game} yet")]
    NothingYet {
        /// The game.
        game: u32,
    },
    /// Nothing was chosen at that turn.
    #[error(
        "nothing was chosen in game {game} at turn {turn}: there are choices at turns 1 to {last}"
    )]
    NothingChosen {
        /// The game.
        game: u32,
        /// The turn asked for.
        turn: u32,
        /// The last turn with a choice.
        last: u32,
    },
    /// There is no such option.
    #[error("there is no option {choose} at turn {turn}; the options are:\n{options}")]
    NoSuchOption {
        /// The turn.
        turn: u32,
        /// The option asked for.
        choose: u32,
        /// All of them, numbered, one per line.
        options: String,
    },
    /// It is the option that was taken.
    #[error("option {choose} was already chosen at turn {turn}; the options are:\n{options}")]
    SameOption {
        /// The turn.
        turn: u32,
        /// The option.
        choose: u32,
        /// All of them, numbered, one per line.
        options: String,
    },
}

/// The settings for games of which one takes another option at a turn. From there on, its game
/// master gets different prompts; prompts that are the same as before get the same answers.
///
/// # Errors
/// [`ForkError`] for a game, turn or option that does not exist, or the option that was taken.
pub fn fork(
    settings: &ExperimentSettings,
    facts: &[Value],
    choice: Choice,
) -> Result<Settings, ForkError> {
    let mut settings = settings.read::<Settings>()?.into_owned();
    let facts = facts.iter().map(Fact::deserialize).collect::<Result<Vec<_>, _>>()?;
    let mut state = Games::default();
    facts.iter().for_each(|fact| state.apply(fact));
    let Choice { game, turn, choose } = choice;
    let games = state.games.len();
    let played = state.games.get(&game).ok_or(ForkError::NoSuchGame { game, games })?;
    let chosen = |entry: &&super::JournalEntry| entry.choice.is_some();
    let Some(entry) = played.journal.iter().filter(chosen).find(|entry| entry.turn == turn) else {
        let last = played.journal.iter().rfind(chosen).map(|entry| entry.turn);
        let nothing = ForkError::NothingYet { game };
        return Err(last.map_or(nothing, |last| ForkError::NothingChosen { game, turn, last }));
    };
    let options = (1..).zip(&entry.offer.options);
    let options: Vec<String> =
        options.map(|(n, o): (u32, _)| format!("  {n}. {}", o.text)).collect();
    let options = options.join("\n");
    if entry.offer.option(choose).is_none() {
        return Err(ForkError::NoSuchOption { turn, choose, options });
    }
    if entry.choice == Some(choose) {
        return Err(ForkError::SameOption { turn, choose, options });
    }
    let choices = &mut settings.config.choices;
    // Later forced choices belong to the path that is abandoned.
    choices.retain(|forced| forced.game != game || forced.turn < turn);
    choices.push(ForcedChoice { game, turn, choose });
    Ok(settings)
}
