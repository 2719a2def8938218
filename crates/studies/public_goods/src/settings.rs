//! The settings that are recorded when a run starts: everything that is needed to run it again.

use serde::{Deserialize, Serialize};

use super::config::Config;
use retold::prompt::{ChatRequest, EmbeddingRequest, Message, Request, RequestError};
use retold_study::shard::Shard;
use retold_study::template::TemplateText;

/// Everything that is needed to run it again.
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

    /// A chat request to a player.
    pub(super) fn chat(&self, agent: u32, messages: Vec<Message>) -> Result<Request, RequestError> {
        ChatRequest {
            model: self.model_of(agent).to_owned(),
            messages,
            temperature: self.temperature_of(agent),
            max_tokens: self.max_tokens,
            ..ChatRequest::default()
        }
        .into_request()
    }

    /// An embedding request for one text; `None` if no vectors are made.
    pub(super) fn embedding(&self, text: &str) -> Option<Result<Request, RequestError>> {
        let model = self.reasoning.embedding_model.clone()?;
        Some(EmbeddingRequest { model, input: text.to_owned(), dimensions: None }.into_request())
    }
}
