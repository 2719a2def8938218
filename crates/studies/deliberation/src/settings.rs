//! The settings that are recorded when a run starts: everything that is needed to run it again.

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::personas::FromPool;
use super::taken_over::FromOriginal;
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
    /// The base persona of each participant, as drawn. A replay needs neither the file or URL that
    /// they came from nor the grammar.
    pub personas: Vec<String>,
    /// The data copied from the files of an original run, if this is an import.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<FromOriginal>,
    /// The personas taken from the pool and added to it, if it is used. A replay does not need the
    /// pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<FromPool>,
    /// The shard that the run is; the whole study if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Config {
    /// The config without the model and the speed, which are recorded separately.
    pub(super) fn without_runtime(self) -> Config {
        Config { provider: None, limits: None, ..self }
    }

    /// A chat request with the config's parameters.
    pub(super) fn chat(&self, messages: Vec<Message>) -> Result<Request, RequestError> {
        let model = self.model.clone();
        let (temperature, max_tokens) = (self.temperature, self.max_tokens);
        ChatRequest { model, messages, temperature, max_tokens, ..ChatRequest::default() }
            .into_request()
    }

    /// An embedding request for one text.
    pub(super) fn embedding(&self, text: &str) -> Result<Request, RequestError> {
        let (model, input) = (self.embedding_model.clone(), text.to_owned());
        EmbeddingRequest { model, input, dimensions: None }.into_request()
    }
}
