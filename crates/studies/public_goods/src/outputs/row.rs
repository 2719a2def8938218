//! The columns that the rows of all tables have in common.

use crate::state::Game;

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

    pub(super) fn game_id(&self, game: &Game) -> String {
        format!("{}_game{}", self.experiment_id, game.number)
    }
}

/// Coins as the original program writes them: with a decimal point and all significant digits.
pub(super) fn float(value: f64) -> String {
    format!("{value:?}")
}
