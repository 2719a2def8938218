//! The stages of a round, and the names of their calls.

use std::sync::Arc;

use retold::id::{CallPath, IdError};
use retold::prompt::Request;
use retold::run::Question;
use serde::{Deserialize, Serialize};

use super::facts::PlayerTurn;

/// The stages in which players are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A message to the others.
    Chat,
    /// How much to contribute.
    Contribution,
    /// Only the amount, if it is asked for after the reasoning.
    Decision,
    /// Whom to punish or reward.
    Redistribution,
    /// The vector of the reasons for a contribution.
    Embedding,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Chat => "chat",
            Stage::Contribution => "contribution",
            Stage::Decision => "contribution/decision",
            Stage::Redistribution => "redistribution",
            Stage::Embedding => "contribution/embedding",
        }
    }

    /// The call of a turn: `game1/r01/agent_0/contribution`.
    pub fn call(self, turn: PlayerTurn) -> String {
        let PlayerTurn { game, round, agent } = turn;
        format!("game{game}/r{round:02}/agent_{agent}/{}", self.name())
    }

    /// The question of a turn. The players of a game react to each other, so only games are independent of each other; a
    /// player's number identifies it only together with the game.
    pub(crate) fn question<P>(
        self,
        turn: PlayerTurn,
        request: Request,
        parser: Arc<P>,
    ) -> Result<Question<P>, IdError> {
        let PlayerTurn { game, round, agent } = turn;
        let question = Question::new(CallPath::new(self.call(turn))?, request, parser);
        let question =
            question.label("game", game).label("agent", format!("game{game}/agent_{agent}"));
        Ok(question.label("round", round).label("stage", self.name()))
    }
}
