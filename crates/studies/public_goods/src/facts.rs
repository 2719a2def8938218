//! The facts of a game, in the past tense.

use serde::{Deserialize, Serialize};

use super::rules::Units;
use retold::id::ContentHash;
use retold_study::floats::Floats;

/// When something happened, and to which player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlayerTurn {
    /// The game, from 1.
    pub game: u32,
    /// The round, from 1.
    pub round: u32,
    /// The player, from 0: `agent_0` in outputs.
    pub agent: u32,
}

/// Which answer decided, and how it was parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidingAnswer {
    /// The parser's method.
    pub method: String,
    /// Which answer to the question it is (the n-th, from 0).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sample: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// A player sat down.
    Seated {
        /// The game, from 1.
        game: u32,
        /// The player, from 0.
        agent: u32,
        /// The name that the others know.
        avatar: String,
        /// The model that plays.
        llm_model: String,
    },
    /// A player sent a message to the others, or kept silent.
    Spoke {
        /// When, and which player.
        #[serde(flatten)]
        turn: PlayerTurn,
        /// Empty for silence.
        message: String,
        /// The answer.
        by: DecidingAnswer,
    },
    /// A player contributed.
    Contributed {
        /// When, and which player.
        #[serde(flatten)]
        turn: PlayerTurn,
        /// The coins in the answer: contributed or withdrawn, depending on the framing.
        stated: i64,
        /// The coins in the public fund.
        contribution: i64,
        /// The answer.
        by: DecidingAnswer,
        /// The reasons, if vectors of reasons are made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// A player punished or rewarded others, or did nothing.
    Redistributed {
        /// When, and which player.
        #[serde(flatten)]
        turn: PlayerTurn,
        /// For each other player of the round, in order.
        units: Vec<Units>,
        /// Whether the player could not pay for all of them.
        was_scaled: bool,
        /// The answer.
        by: DecidingAnswer,
    },
    /// A round was settled.
    RoundSettled {
        /// The game, from 1.
        game: u32,
        /// The round, from 1.
        round: u32,
        /// All contributions, multiplied.
        public_fund: f64,
        /// Every player who contributed, and their earnings in the round.
        payoffs: Vec<(u32, f64)>,
    },
    /// A player's reasons for a contribution were turned into a vector.
    ReasoningEmbedded {
        /// When, and which player.
        #[serde(flatten)]
        turn: PlayerTurn,
        /// The vector's length.
        dimensions: usize,
        /// The vector's hash.
        vector: ContentHash,
        /// The vector.
        floats: Floats,
    },
    /// Players were grouped by their reasoning.
    PlayersGrouped {
        /// Game, player and group (from 0), in order.
        groups: Vec<(u32, u32, usize)>,
        /// How well separated the groups are, from -1 to 1, if that is defined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silhouette: Option<f64>,
    },
    /// A call of a player ran out of retries, or none of the answers was usable. The player leaves
    /// the game; the others continue.
    PlayerFailed {
        /// When, and which player.
        #[serde(flatten)]
        turn: PlayerTurn,
        /// The call.
        call: String,
        /// Its last sample.
        sample: u32,
        /// What happened.
        reason: String,
    },
}
