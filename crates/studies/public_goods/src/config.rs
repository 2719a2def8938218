//! The config file: the keys of the original runs' `config.json`, unchanged, and a few of our own.
//!
//! The source document does not describe the game itself; its parameters are those of the original
//! runs. They name the price of a unit either `peer_incentive_cost`, or `punishment_cost` and
//! `reward_cost`; both are accepted.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{ContributionFraming, ContributionType};
use retold::model::{Limits, RetryPolicy};
use retold_stats::Algorithm;
use retold_study::config::{ModelConfig, RequestKeys, drawn_if_left_out};

/// The config file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `public_goods`; the original files leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The name of the runs' output folder, also in every row of its tables.
    pub experiment_id: String,
    /// The seed of every random choice. Drawn at random and recorded if left out.
    #[schemars(transform = drawn_if_left_out)]
    #[serde(default)]
    pub seed: u64,
    /// The number of independent games with these settings.
    #[serde(default = "defaults::one")]
    pub games: u32,

    /// Players of a game, 2 to 20.
    pub group_size: u32,
    /// Rounds of a game, 1 to 30.
    pub game_length: u32,
    /// What every player receives in every round, in coins.
    #[serde(default = "defaults::endowment")]
    pub endowment: u32,
    /// Whether players know the number of rounds.
    pub horizon_knowledge: Horizon,
    /// The marginal per-capita return: what a coin in the public fund yields for each player. 0.06
    /// to 0.7.
    pub mpcr: f64,
    /// `mpcr` times `group_size`; need not be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplier: Option<f64>,
    /// The allowed amounts.
    pub contribution_type: ContributionType,
    /// The meaning of the number in the tag: coins contributed, or coins withdrawn.
    pub contribution_framing: ContributionFraming,
    /// Whether players can send messages before contributing.
    pub communication_enabled: bool,
    /// Whether players see, after a round, what each other player contributed and earned.
    pub peer_outcome_visibility: bool,
    /// Whether players do not learn who punished or rewarded.
    pub actor_anonymity: bool,
    /// Whether players can punish each other; not together with reward.
    pub punishment_enabled: bool,
    /// Whether players can reward each other; not together with punishment.
    pub reward_enabled: bool,
    /// The cost of a unit of either to the actor, in coins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_incentive_cost: Option<f64>,
    /// The cost of a unit of punishment, if not `peer_incentive_cost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub punishment_cost: Option<f64>,
    /// The cost of a unit of reward, if not `peer_incentive_cost`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward_cost: Option<f64>,
    /// What a unit of punishment costs its target, in coins.
    #[serde(default = "defaults::impact")]
    pub punishment_impact: f64,
    /// What a unit of reward gives its target, in coins.
    #[serde(default = "defaults::impact")]
    pub reward_impact: f64,
    /// The model that plays, in the provider's spelling.
    #[serde(default)]
    pub llm_model: String,
    /// From 0 to 2; left to the provider if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_temperature: Option<f64>,

    /// Ours: the differences for the first players. All others play as defined above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub players: Vec<PlayerConfig>,
    /// Ours: the players' avatars in order, either the same for all games or for one game after the
    /// other. Drawn by the seed if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avatars: Option<Vec<String>>,
    /// Ours: the longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Ours: the version of the parsers `contribution`, `chat` and `redistribution`.
    #[serde(default = "defaults::two")]
    pub parser_version: u32,
    /// Ours: how many more answers are asked for if one is not usable.
    #[serde(default = "defaults::one")]
    pub max_parse_retries: u32,
    /// Ours: what happens if the last of them is not usable either.
    #[serde(default)]
    pub unusable_answer: IfUnusable,
    /// Ours: longer messages are cut, and `...` is appended.
    #[serde(default = "defaults::two_thousand")]
    pub max_message_chars: usize,
    /// Ours: whether the amount is asked for in a separate question, after the reasoning, as in
    /// some of the original runs.
    #[serde(default)]
    pub decision_apart: bool,
    /// Ours: how players are grouped by their reasoning.
    #[serde(default)]
    pub reasoning: ReasoningConfig,
    /// Ours: a folder of templates that replace the built-in ones with the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// Ours: the model and its parameters as all studies spell them; they stand for `llm_model`, `llm_temperature` and `max_tokens`.
    #[serde(default, skip_serializing_if = "RequestKeys::is_empty")]
    pub request: RequestKeys,
    /// Ours: whether consecutive messages of one role are sent as one, and a user's message first, for servers that want turns to
    /// alternate. It shapes the prompts, so their hashes.
    #[serde(default, skip_serializing)]
    pub alternate: bool,
    /// Ours: the model that answers. `llm_model` is only a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// Ours: how fast to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Ours: when to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
}

/// Whether players know when the game ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Horizon {
    /// They know the number of rounds.
    Known,
    /// They do not.
    Unknown,
}

/// What happens to a player whose answers are not usable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfUnusable {
    /// The document's default: half the endowment, no units for anyone, no message.
    #[default]
    Default,
    /// The player has failed and leaves the game.
    Fail,
}

/// The differences for one player.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayerConfig {
    /// The model that plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_model: Option<String>,
    /// From 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_temperature: Option<f64>,
    /// The player's persona, in a few sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
}

/// How players are grouped by their reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReasoningConfig {
    /// The model for vectors of the reasons for contributions; without it, there is no grouping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,
    /// How vectors are grouped.
    pub algorithm: Algorithm,
    /// The most groups.
    pub max_clusters: u32,
}

impl Default for ReasoningConfig {
    fn default() -> Self {
        ReasoningConfig { embedding_model: None, algorithm: Algorithm::default(), max_clusters: 6 }
    }
}

impl Config {
    /// The config with what `request` gives in the place of its own keys.
    pub(super) fn with_own_keys(mut self) -> Config {
        self.request.stand_for(
            &mut self.llm_model,
            &mut self.llm_temperature,
            &mut self.max_tokens,
        );
        self
    }
}

impl Config {
    /// The factor by which the coins in the public fund are multiplied: `mpcr` times `group_size`.
    pub fn multiplier(&self) -> f64 {
        self.mpcr * f64::from(self.group_size)
    }

    /// The cost of a unit of punishment, if the config has it.
    pub fn punishment_cost(&self) -> Option<f64> {
        self.punishment_cost.or(self.peer_incentive_cost)
    }

    /// The cost of a unit of reward, if the config has it.
    pub fn reward_cost(&self) -> Option<f64> {
        self.reward_cost.or(self.peer_incentive_cost)
    }

    /// The avatars of a game, if the config names them.
    pub(super) fn avatars_of(&self, game: u32) -> Option<&[String]> {
        let (avatars, size) = (self.avatars.as_ref()?, self.group_size as usize);
        let from = size * (game as usize).saturating_sub(1);
        Some(avatars.get(from..from + size).unwrap_or(avatars))
    }

    /// The differences for one player, if there are any.
    pub(super) fn own(&self, agent: u32) -> Option<&PlayerConfig> {
        self.players.get(usize::try_from(agent).ok()?)
    }

    /// The model that plays for a player.
    pub(super) fn model_of(&self, agent: u32) -> &str {
        let own = self.own(agent).and_then(|own| own.llm_model.as_deref());
        own.unwrap_or(&self.llm_model)
    }

    /// The temperature of a player's requests, if one is given.
    pub(super) fn temperature_of(&self, agent: u32) -> Option<f64> {
        self.own(agent).and_then(|own| own.llm_temperature).or(self.llm_temperature)
    }
}

mod defaults {
    pub(super) fn one() -> u32 {
        1
    }
    pub(super) fn two() -> u32 {
        2
    }
    pub(super) fn endowment() -> u32 {
        20
    }
    pub(super) fn impact() -> f64 {
        1.0
    }
    pub(super) fn two_thousand() -> usize {
        2_000
    }
}
