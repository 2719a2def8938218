//! The columns that the rows of most tables have in common.

use retold_study::table::Table;

use crate::state::Game;

/// Of a game: what [`RowHead::row`] fills.
const OF_GAME: [&str; 3] = ["experiment_id", "config_hash", "game_id"];

/// Of a player in a round.
const OF_PLAYER: [&str; 3] = ["round", "agent_id", "avatar_name"];

/// A table with rows about players in rounds, with these columns after those that all have.
pub(super) fn table_of_players(name: &str, columns: &[&str]) -> Table {
    Table::new(name, &[&OF_GAME[..], &OF_PLAYER, columns].concat())
}

/// A table with rows about games, with these columns after those that all have.
pub(super) fn table_of_games(name: &str, columns: &[&str]) -> Table {
    Table::new(name, &[&OF_GAME[..], columns].concat())
}

/// The beginning of every row.
pub(super) struct RowHead {
    pub(super) experiment_id: String,
    pub(super) config_hash: String,
    pub(super) timestamp: String,
}

impl RowHead {
    /// The cells that begin a row of a game.
    pub(super) fn row(&self, game: &Game) -> Vec<String> {
        vec![self.experiment_id.clone(), self.config_hash.clone(), self.game_id(game)]
    }

    /// The cells that begin a row of a player in a round.
    pub(super) fn row_of_player(&self, game: &Game, round: u32, agent: u32) -> Vec<String> {
        let avatar = game.avatar(agent).to_owned();
        let mut row = self.row(game);
        row.extend([round.to_string(), format!("agent_{agent}"), avatar]);
        row
    }

    pub(super) fn game_id(&self, game: &Game) -> String {
        format!("{}_game{}", self.experiment_id, game.number)
    }
}

/// Coins as the original program writes them: with a decimal point and all significant digits.
pub(super) fn float(value: f64) -> String {
    format!("{value:?}")
}
