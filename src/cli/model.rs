//! Who answers: from the config, the flags and the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use secrecy::SecretString;

use super::again;
use super::error::{CliError, Status};
use super::limits::LimitArgs;
use crate::config::{AnswersFile, BaseUrl, ConfigError, ModelConfig, ModelKind, Rates, Runtime};
use crate::encoding::read_by_hand;
use crate::experiments::registry;
use crate::inert::inert;
use crate::jsonl::JsonlReader;
use crate::model::openai::{OpenAi, OpenAiSettings};
use crate::model::scripted::{LoadError, Scripted};
use crate::model::simulated::{Misbehaviour, Simulated};
use crate::model::{Answerer, Model, NamedUrl, Prices, without_secrets};
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
    /// The base URL of the API, up to and including /v1; means --model openai. Without it, and without one in
    /// the config, it is OPENAI_BASE_URL, or else OpenAI's own. A URL that is only in the settings of a
    /// recorded run is never used.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Read the API key from this file instead of OPENAI_API_KEY.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    // Last: its heading would take in what follows.
    #[command(flatten)]
    limits: LimitArgs,
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
        let ModelArgs { model, answers, base_url, key_file: _, limits } = self;
        let ModelConfig { kind, base_url: url, answers: file, .. } = &mut runtime.model;
        if let Some(path) = answers {
            (*kind, *file) = (ModelKind::Scripted, Some(AnswersFile::Named(path.clone())));
        }
        if let Some(base_url) = base_url {
            (*kind, *url) = (ModelKind::Openai, BaseUrl::Named(NamedUrl::given(base_url)));
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
        if *kind == ModelKind::Openai
            && *url == BaseUrl::BuiltIn
            && let Some(named) = environment_url()
        {
            *url = BaseUrl::Named(named);
        }
        limits.apply(&mut runtime.limits);
        runtime.check("the command line").map_err(|e| match e {
            ConfigError::Value { key, message, .. } => CliError::usage(format!("{key}: {message}")),
            other => other.into(),
        })
    }

    /// What tokens cost: from the file that is named, or as this release knows it.
    pub(super) fn prices(&self) -> Result<Prices, CliError> {
        self.limits.prices()
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
                let path = match answers {
                    None => return Err(CliError::usage("a scripted model needs --answers FILE")),
                    Some(AnswersFile::Recorded(path)) => return Err(unnamed_answers(path)),
                    Some(AnswersFile::Named(path)) => path,
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
                let base_url = match named(base_url) {
                    Ok(url) => url,
                    Err(Unnamed { url }) => return Err(unnamed_url(url)),
                };
                let key = self.key(&base_url)?;
                let keyless = key.is_none();
                let timeout = runtime.limits.timeout();
                let settings = OpenAiSettings { base_url, key, timeout };
                let model = OpenAi::new(settings).map_err(|e| CliError::usage(e.to_string()))?;
                let local = model.info().source.is_some_and(|s| is_local(&s));
                if !local && keyless {
                    return Err(CliError::usage(
                        "no API key: set OPENAI_API_KEY or give --key-file FILE",
                    )
                    .hint("without a key, --model simulated answers by itself"));
                }
                Ok(Arc::new(model))
            }
        }
    }

    /// Whether these settings would ask a server, or read a file, that only a recording names.
    pub(super) fn is_unnamed(&self, runtime: &Runtime) -> bool {
        let ModelConfig { kind, base_url, answers, .. } = &runtime.model;
        match kind {
            ModelKind::Simulated => false,
            ModelKind::Scripted => matches!(answers, None | Some(AnswersFile::Recorded(_))),
            ModelKind::Openai => named(base_url).is_err(),
        }
    }

    /// The key for a server that the user has named, from the file or the environment. Never shown.
    fn key(&self, _server: &NamedUrl) -> Result<Option<SecretString>, CliError> {
        let text = match &self.key_file {
            Some(path) => read_by_hand(path).map_err(|e| {
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

/// The base URL that the environment names.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment_url() -> Option<NamedUrl> {
    let url = std::env::var("OPENAI_BASE_URL").unwrap_or_default();
    Some(url.trim()).filter(|url| !url.is_empty()).map(NamedUrl::given)
}

/// A URL that only a recording names.
struct Unnamed<'a> {
    url: &'a str,
}

/// The URL, if the user or the program names it. One that a recording names is used only if it is where we
/// would go without it.
fn named(url: &BaseUrl) -> Result<NamedUrl, Unnamed<'_>> {
    let default = || environment_url().unwrap_or_else(NamedUrl::openai);
    match url {
        BaseUrl::Named(url) => Ok(url.clone()),
        BaseUrl::BuiltIn => Ok(default()),
        BaseUrl::Recorded(url) => Some(default()).filter(|d| d.is_at(url)).ok_or(Unnamed { url }),
    }
}

fn unnamed_url(recorded: &str) -> CliError {
    let url = without_secrets(recorded);
    let Some(again) = again::with("--base-url", &url) else {
        return CliError::usage("the base URL that is recorded with this run cannot be used")
            .hint("name the server to ask with --base-url URL");
    };
    CliError::usage(format!(
        "this run was recorded from {url}, and nothing in this command names that server"
    ))
    .hint("a recording may come from anybody, so it never decides where prompts and your key are sent")
    .hint(format!("if you trust that server: {again}"))
}

fn unnamed_answers(recorded: &Path) -> CliError {
    let path = recorded.display().to_string();
    let shown = inert(&path, 200);
    let error = CliError::usage(format!(
        "this run was recorded from the answers in {shown}, and nothing in this command names that file"
    ))
    .hint("a recording may come from anybody, so it never decides which files are read");
    match again::with("--answers", &path) {
        Some(again) => error.hint(format!("if that is the file: {again}")),
        None => error.hint("name the file with --answers FILE"),
    }
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
