//! What happens in a game, in the past tense.

use serde::{Deserialize, Serialize};

use super::rules::Units;
use retold::id::ContentHash;
use retold_study::carried::{Carried, Floats};

/// When and to whom something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Turn {
    /// The game, from 1.
    pub game: u32,
    /// The round, from 1.
    pub round: u32,
    /// The player, from 0: `agent_0` in outputs.
    pub agent: u32,
}

/// Which answer decided, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// The parser's method.
    pub method: String,
    /// The n-th answer to the question, from 0.
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
        /// The name the others know.
        avatar: String,
        /// The model that plays.
        llm_model: String,
    },
    /// A player sent a message to the others, or kept silent.
    Spoke {
        /// When and who.
        #[serde(flatten)]
        turn: Turn,
        /// Empty for silence.
        message: String,
        /// Which answer.
        by: By,
    },
    /// A player contributed.
    Contributed {
        /// When and who.
        #[serde(flatten)]
        turn: Turn,
        /// The coins in the answer: contributed or withdrawn, by the framing.
        stated: i64,
        /// The coins in the public fund.
        contribution: i64,
        /// Which answer.
        by: By,
        /// Why, if reasons are made vectors. Before the second edition, only the answer has it.
        #[serde(default, skip_serializing_if = "Carried::is_left_out")]
        reasoning: Carried<String>,
    },
    /// A player punished or rewarded others, or nobody.
    Redistributed {
        /// When and who.
        #[serde(flatten)]
        turn: Turn,
        /// For each other player of the round, in order.
        units: Vec<Units>,
        /// Whether the player could not pay for all.
        was_scaled: bool,
        /// Which answer.
        by: By,
    },
    /// A round was settled.
    RoundSettled {
        /// The game, from 1.
        game: u32,
        /// The round, from 1.
        round: u32,
        /// All contributions, multiplied.
        public_fund: f64,
        /// Every player who contributed, and what the round earned them.
        payoffs: Vec<(u32, f64)>,
    },
    /// A player's reasons for a contribution were made a vector. Before the second edition, only the answer that
    /// caused this fact has the vector itself.
    ReasoningEmbedded {
        /// When and who.
        #[serde(flatten)]
        turn: Turn,
        /// How many numbers.
        dimensions: usize,
        /// The vector's hash.
        vector: ContentHash,
        /// The vector.
        #[serde(default, skip_serializing_if = "Carried::is_left_out")]
        floats: Carried<Floats>,
    },
    /// Players were grouped by their reasoning.
    PlayersGrouped {
        /// Game, player and group (from 0), in order.
        groups: Vec<(u32, u32, usize)>,
        /// How well separated the groups are, -1 to 1, where that can be said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        silhouette: Option<f64>,
    },
    /// A call of a player finally failed, or none of the answers could be used. The player leaves the
    /// game; the others go on.
    PlayerFailed {
        /// When and who.
        #[serde(flatten)]
        turn: Turn,
        /// The call.
        call: String,
        /// Its last sample.
        sample: u32,
        /// What happened.
        reason: String,
    },
}
