//! The stages of a round, and the names of their calls.

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
    /// The call of a turn: `game1/r01/agent_0/contribution`.
    pub fn call(self, turn: PlayerTurn) -> String {
        let PlayerTurn { game, round, agent } = turn;
        let name = match self {
            Stage::Chat => "chat",
            Stage::Contribution => "contribution",
            Stage::Decision => "contribution/decision",
            Stage::Redistribution => "redistribution",
            Stage::Embedding => "contribution/embedding",
        };
        format!("game{game}/r{round:02}/agent_{agent}/{name}")
    }
}
