//! What is recorded when such a run starts: everything its folder says but the answers.

use serde::{Deserialize, Serialize};

use crate::{Config, Stage, Turn};
use retold::prompt::{ChatRequest, LONGEST_REQUEST, Message, Request, RequestError, Role};

/// Everything that a re-execution needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSettings {
    /// The game, in our words.
    pub config: Config,
    /// What the coins in the pot are multiplied by, as that program says it.
    pub multiplier: f64,
    /// 0 to 1; that program gives it with every prompt.
    pub top_p: Option<f64>,
    /// The longest answer about whom to punish or reward, in tokens; `config` has that of contributions.
    pub actions_max_tokens: Option<u32>,
    /// LocalGame 1 first.
    pub games: Vec<LocalGame>,
    /// The texts that prompts are put together from: each once, though every later prompt of a player
    /// repeats the rounds before.
    pub texts: Vec<String>,
    /// Every prompt, in the order of the folder.
    pub asked: Vec<Asked>,
    /// The version of the parsers `contribution_json` and `actions_json`; 1 in runs that do not say it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub parser_version: u32,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(version: &u32) -> bool {
    *version == 1
}

/// A game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalGame {
    /// As the folder names it.
    pub id: String,
    /// `agent_0` first.
    pub players: Vec<Who>,
}

/// A player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Who {
    /// The name the others know.
    pub avatar: String,
    /// Which persona, as the folder names it.
    pub persona: String,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// When and who.
    pub turn: Turn,
    /// For what.
    pub stage: Stage,
    /// Which of [`LocalSettings::texts`] it is put together from, in order.
    pub prompt: Vec<usize>,
}

impl LocalSettings {
    /// A prompt as that program sent it, with its parameters.
    pub(super) fn request(&self, asked: &Asked) -> Result<Request, RequestError> {
        let texts = || asked.prompt.iter().filter_map(|at| self.texts.get(*at));
        // A text may be named any number of times.
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
