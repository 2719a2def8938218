//! Who answers: from the config, the flags and the environment.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use secrecy::SecretString;

use super::error::{CliError, Status};
use crate::config::{ConfigError, ModelConfig, ModelKind, Rates, Runtime};
use crate::encoding::read_text;
use crate::experiments::registry;
use crate::jsonl::JsonlReader;
use crate::model::openai::{OpenAi, OpenAiSettings};
use crate::model::scripted::{LoadError, Scripted};
use crate::model::simulated::{Misbehaviour, Simulated};
use crate::model::{Answerer, Model};
use crate::run::Mode;

/// Which model answers. Each flag overrides the config.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// Who answers.
    #[arg(long, value_enum)]
    model: Option<Kind>,
    /// Answer from this exchanges file (JSON Lines, plain or .gz or .zst; `-` for standard input); means
    /// --model scripted.
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// The base URL of the API, up to and including /v1; means --model openai.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Read the API key from this file instead of OPENAI_API_KEY.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// How many calls at once.
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A program that makes answers up.
    Simulated,
    /// Any OpenAI-compatible server.
    Openai,
    /// Answers from a file.
    Scripted,
}

impl ModelArgs {
    /// The config with the flags applied.
    pub(super) fn apply(&self, runtime: &mut Runtime) -> Result<(), CliError> {
        let ModelArgs { model, answers, base_url, key_file: _, concurrency } = self;
        let ModelConfig { kind, base_url: url, answers: file, .. } = &mut runtime.model;
        if let Some(path) = answers {
            (*kind, *file) = (ModelKind::Scripted, Some(path.clone()));
        }
        if let Some(base_url) = base_url {
            (*kind, *url) = (ModelKind::Openai, base_url.clone());
        }
        if answers.is_some() && base_url.is_some() {
            return Err(CliError::usage("--answers and --base-url name two models: give one"));
        }
        match model {
            Some(Kind::Simulated) => *kind = ModelKind::Simulated,
            Some(Kind::Openai) => *kind = ModelKind::Openai,
            Some(Kind::Scripted) => *kind = ModelKind::Scripted,
            None => {}
        }
        if let Some(concurrency) = concurrency {
            runtime.limits.concurrency = *concurrency;
        }
        runtime.check("the command line").map_err(|e| match e {
            ConfigError::Value { key, message, .. } => CliError::usage(format!("{key}: {message}")),
            other => other.into(),
        })
    }

    /// Makes the model.
    pub(super) fn make(
        &self,
        experiment: &str,
        seed: u64,
        runtime: &Runtime,
        mode: Mode,
    ) -> Result<Answerer, CliError> {
        let ModelConfig { kind, base_url, answers, rates, latency_ms } = &runtime.model;
        match kind {
            ModelKind::Simulated => {
                let Rates {
                    malformed,
                    malformed_kinds,
                    truncated,
                    rate_limited,
                    server_error,
                    failure,
                } = rates.clone();
                let latency = Duration::try_from_secs_f64(latency_ms / 1000.0).unwrap_or_default();
                let rates = Misbehaviour {
                    malformed,
                    malformed_kinds,
                    truncated,
                    rate_limited,
                    server_error,
                    failure,
                    latency,
                };
                let player = registry::player(experiment);
                let player = player.map_err(|e| CliError::usage(e.to_string()))?;
                Ok(Arc::new(Simulated::new(seed, rates, player)))
            }
            ModelKind::Scripted => {
                let Some(path) = answers else {
                    return Err(CliError::usage("a scripted model needs --answers FILE"));
                };
                let lines = JsonlReader::open(path)?;
                let name = lines.path().display().to_string();
                let scripted = Scripted::from_lines(name.clone(), lines).map_err(|e| match e {
                    LoadError::Read(e) => e.into(),
                    line => CliError::usage(format!("{name}, {line}")),
                })?;
                // Which of them an interrupted run has used cannot be told, and none may serve twice.
                if mode == Mode::Resume && scripted.unaddressed() > 0 {
                    return Err(CliError::usage(format!(
                        "{name} has answers without \"call\", which are taken in file order: a run on them \
                         cannot be resumed"
                    ))
                    .hint("give each line its \"call\", or record the run anew"));
                }
                Ok(Arc::new(scripted))
            }
            ModelKind::Openai => {
                let settings = OpenAiSettings {
                    base_url: base_url.clone(),
                    key: self.key()?,
                    timeout: runtime.limits.timeout(),
                };
                let model = OpenAi::new(settings).map_err(|e| CliError::usage(e.to_string()))?;
                let local = model.info().source.is_some_and(|s| is_local(&s));
                if !local && self.key()?.is_none() {
                    return Err(CliError::usage(
                        "no API key: set OPENAI_API_KEY or give --key-file FILE",
                    )
                    .hint("without a key, --model simulated answers by itself"));
                }
                Ok(Arc::new(model))
            }
        }
    }

    /// The key, from the file or the environment. Never shown.
    fn key(&self) -> Result<Option<SecretString>, CliError> {
        let text = match &self.key_file {
            Some(path) => read_text(path).map_err(|e| {
                let message = format!("cannot read the key file {}: {e}", path.display());
                CliError::new(Status::Io, message)
            })?,
            None => environment_key(),
        };
        let text = text.trim();
        Ok((!text.is_empty()).then(|| SecretString::from(text)))
    }
}

#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment_key() -> String {
    std::env::var("OPENAI_API_KEY").unwrap_or_default()
}

fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or(host);
    let name = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or(six),
        None => host.split(':').next().unwrap_or(host),
    };
    let address = name.parse::<std::net::IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A base URL as it may be recorded: without user name, password and query, each of which may hold a
/// key. Whoever resumes the run gives them again.
pub(super) fn without_secrets(base_url: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(base_url) else { return String::new() };
    url.set_query(None);
    url.set_fragment(None);
    // Refused for a URL without a host, which has neither.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.as_str().trim_end_matches('/').to_owned()
}
