//! The settings that are recorded when such a run starts: everything in its folder except the
//! answers.

use serde::{Deserialize, Serialize};

use crate::{Config, PlayerTurn, Stage};
use retold::prompt::{ChatRequest, LONGEST_REQUEST, Message, Request, RequestError, Role};

/// Everything that is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSettings {
    /// The game's config in our terms.
    pub config: Config,
    /// The factor by which the coins in the pot are multiplied, as that program has it.
    pub multiplier: f64,
    /// From 0 to 1; that program sends it with every prompt.
    pub top_p: Option<f64>,
    /// The longest answer about punishment or reward, in tokens; `config` has the limit for
    /// contributions.
    pub actions_max_tokens: Option<u32>,
    /// Beginning with game 1.
    pub games: Vec<LocalGame>,
    /// The texts that prompts are assembled from, each once, although every later prompt of a
    /// player repeats the earlier rounds.
    pub texts: Vec<String>,
    /// Every prompt, in the order of the folder.
    pub asked: Vec<RecordedPrompt>,
}

/// A game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalGame {
    /// The folder's name for it.
    pub id: String,
    /// Beginning with `agent_0`.
    pub players: Vec<OriginalPlayer>,
}

/// A player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalPlayer {
    /// The name that the others know.
    pub avatar: String,
    /// The persona, as the folder names it.
    pub persona: String,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPrompt {
    /// When, and which player.
    pub turn: PlayerTurn,
    /// The stage.
    pub stage: Stage,
    /// The indices of its parts in [`LocalSettings::texts`], in order.
    pub prompt: Vec<usize>,
}

impl LocalSettings {
    /// A prompt as that program sent it, with its parameters.
    pub(super) fn request(&self, asked: &RecordedPrompt) -> Result<Request, RequestError> {
        let texts = || asked.prompt.iter().filter_map(|at| self.texts.get(*at));
        // A text may be referred to any number of times.
        let bytes = texts().map(String::len).sum();
        if bytes > LONGEST_REQUEST {
            return Err(RequestError::TooLong { bytes });
        }
        let prompt: String = texts().map(String::as_str).collect();
        let max_tokens = match asked.stage {
            Stage::Redistribution => self.actions_max_tokens,
            _ => self.config.max_tokens,
        };
        ChatRequest {
            model: self.config.llm_model.clone(),
            messages: vec![Message::new(Role::User, prompt)],
            temperature: self.config.llm_temperature,
            top_p: self.top_p,
            max_tokens,
            ..ChatRequest::default()
        }
        .into_request()
    }
}
