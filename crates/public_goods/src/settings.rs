//! What is recorded when a run starts: everything that a re-execution needs.

use serde::{Deserialize, Serialize};

use super::config::Config;
use retold::model::{Limits, RetryPolicy};
use retold::prompt::{ChatRequest, EmbeddingRequest, Message, Request, RequestError};
use retold_study::config::ModelConfig;
use retold_study::edition::Edition;
use retold_study::template::TemplateText;

/// Everything that a re-execution needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Which rules of ours it follows.
    #[serde(default, skip_serializing_if = "Edition::is_first")]
    pub edition: Edition,
    /// The config, without what does not change the outcome.
    pub config: Config,
    /// All templates, whole.
    pub prompts: Vec<TemplateText>,
}

impl Config {
    /// The config without who answers and how fast, which is recorded beside it.
    pub(super) fn without_runtime(self) -> Config {
        Config {
            model: ModelConfig::default(),
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            ..self
        }
    }

    /// A chat request to a player.
    pub(super) fn chat(&self, agent: u32, messages: Vec<Message>) -> Result<Request, RequestError> {
        let player = self.player(agent);
        ChatRequest {
            model: player.llm_model.unwrap_or_default(),
            messages,
            temperature: player.llm_temperature,
            max_tokens: self.max_tokens,
            ..ChatRequest::default()
        }
        .into_request()
    }

    /// An embedding request for one text; none if nobody makes vectors.
    pub(super) fn embedding(&self, text: &str) -> Option<Result<Request, RequestError>> {
        let model = self.reasoning.embedding_model.clone()?;
        Some(EmbeddingRequest { model, input: text.to_owned(), dimensions: None }.into_request())
    }
}
