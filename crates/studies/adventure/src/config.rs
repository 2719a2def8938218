//! The config file, and the settings it resolves to.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Policy;
use retold::model::{Limits, RetryPolicy};
use retold_study::config::{ModelConfig, RequestConfig, drawn_if_left_out};
use retold_study::shard::Shard;
use retold_study::template::TemplateText;

/// The config file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `adventure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The seed of the random player and of the simulated model. Drawn at random and recorded if left out.
    #[schemars(transform = drawn_if_left_out)]
    #[serde(default)]
    pub seed: u64,
    /// The number of simultaneous games, 1 to 1,000; 1 if a person plays.
    #[serde(default = "one")]
    pub games: u32,
    /// The number of turns in a game, 1 to 200; the last one ends the story.
    pub turns: u32,
    /// The player.
    #[serde(default)]
    pub player: Policy,
    /// How the story begins.
    pub opening: String,
    /// Who the player is, for the model that creates the hero.
    pub hero: String,
    /// Where the story begins.
    pub location: String,
    /// What the player has at the beginning.
    #[serde(default)]
    pub inventory: Vec<String>,
    /// How many turns the game master is shown again word for word, 0 to 200.
    #[serde(default = "six")]
    pub memory: u32,
    /// How many more answers are asked for if one is not usable, 0 to 100.
    #[serde(default = "two")]
    pub max_parse_retries: u32,
    /// The player's options if the game master offers none.
    #[serde(default = "look_around")]
    pub default_actions: Vec<String>,
    /// Choices that are made regardless of what the player would choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ForcedChoice>,
    /// A folder of templates that replace the built-in ones with the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// The parameters of the requests to the game master.
    pub request: RequestConfig,
    /// The parameters of the requests to a `model` that plays; if not given, those in `request`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player_request: Option<RequestConfig>,
    /// Whether consecutive messages of one role are sent as one, and a user's message first, for servers that want turns to
    /// alternate. It shapes the prompts, so their hashes.
    #[serde(default, skip_serializing)]
    pub alternate: bool,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelConfig>,
    /// How fast to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// When to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
}

/// A choice that is made regardless of what the player would choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForcedChoice {
    /// The game, from 1.
    #[serde(default = "one")]
    pub game: u32,
    /// The turn, from 1.
    pub turn: u32,
    /// The option, from 1; the last one if there are fewer.
    pub choose: u32,
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

fn six() -> u32 {
    6
}

fn look_around() -> Vec<String> {
    vec!["Look around".to_owned(), "Move on".to_owned()]
}

/// What is recorded when a run starts: everything that is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The config, without settings that do not affect the outcome.
    pub config: Config,
    /// All templates, complete.
    pub prompts: Vec<TemplateText>,
    /// The shard that the run is; the whole study if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Config {
    /// The config without the model and the speed, which are recorded separately.
    pub(super) fn without_runtime(self) -> Config {
        Config { model: None, limits: None, retry: None, ..self }
    }
}
