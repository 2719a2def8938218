//! The flags that choose a model.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use super::addresses::{environment_url, own_url};
use super::batch_args::BatchArgs;
use super::names::ModelChoice;
use crate::error::CliError;
use crate::limits::{BudgetArgs, LimitArgs};
use retold::escaping::printable;
use retold::model::{NamedUrl, Prices};
use retold_study::config::{
    AnswersFile, ApiKind, BaseUrl, EndpointConfig, KeyVariable, ModelConfig, ModelKind, Runtime,
};
use retold_study::studies::Studies;
use retold_study::study::StudySettings;
use secrecy::SecretString;

/// Which model answers. Each flag overrides the config.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// The model that answers, in the place of all that the config names: PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5,
    /// openai/gpt-4o-mini, gemini/gemini-2.5-flash or responses/gpt-5, or the model's name alone if it says whose it is. A
    /// server that --base-url, the config or OPENAI_BASE_URL names counts more than a name. Or only where answers come from,
    /// with the config's models: simulated (a program that makes them up), scripted (a file), openai (any OpenAI-compatible
    /// server), anthropic, gemini or responses. Models of embeddings stay those of the config.
    #[arg(long, value_name = "MODEL", value_parser = ModelChoice::from_str)]
    pub(super) model: Option<ModelChoice>,
    /// Answer from this exchanges file (JSON Lines, plain or .gz or .zst; `-` for standard input);
    /// implies --model scripted.
    #[arg(long, value_name = "FILE")]
    pub(super) answers: Option<PathBuf>,
    /// The base URL of the API, up to and including /v1 for OpenAI's; implies --model openai unless
    /// the config has another API. The default is the config's, then OPENAI_BASE_URL (for other
    /// APIs, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL), then the provider's own. A URL that is
    /// only in the settings of a recorded run is never used.
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Use another server for the requests of one model: MODEL=URL. Can be repeated; implies
    /// --model openai unless the config has another API. In a config, use model.endpoints. An endpoint for a model that the settings
    /// do not name is refused. The key from OPENAI_API_KEY or --key-file is not sent to it.
    #[arg(long = "endpoint", value_name = "MODEL=URL")]
    pub(super) endpoints: Vec<String>,
    /// The environment variable with the API key for a model's endpoint: MODEL=VARIABLE. Can be
    /// repeated. It is never recorded: give it again to resume or fork.
    #[arg(long = "endpoint-key", value_name = "MODEL=VARIABLE")]
    pub(super) endpoint_keys: Vec<String>,
    /// Read the API key from this file instead of OPENAI_API_KEY (ANTHROPIC_API_KEY, GEMINI_API_KEY).
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// The API key itself; implies --model openai unless the config has another API. It is never recorded, but other users of this machine can see it in the
    /// list of processes, and your shell keeps it: prefer the variable or --key-file.
    #[arg(long, conflicts_with = "key_file", value_parser = secret)]
    pub(super) key: Option<SecretString>,
    /// The config is your own or you have read it: it may name files outside of its folder, and send keys to
    /// other servers than those that they are for. A pair of a variable and a server is remembered.
    #[arg(long)]
    pub(crate) trust: bool,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) batches: BatchArgs,
}

/// As clap wants it.
fn secret(text: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(text))
}

impl ModelArgs {
    /// Flags that name no model, of a command that has `--trust` alone.
    pub(crate) fn trusting(trust: bool) -> Self {
        ModelArgs { trust, ..ModelArgs::default() }
    }

    /// Flags that name a model alone, as `--model` has it.
    pub(crate) fn naming(model: Option<&str>, trust: bool) -> Result<Self, CliError> {
        let model = model.map(ModelChoice::from_str).transpose().map_err(CliError::usage)?;
        Ok(ModelArgs { model, trust, ..ModelArgs::default() })
    }

    /// Whether a flag says where answers come from.
    pub(crate) fn names_server(&self) -> bool {
        self.model.is_some() || self.base_url.is_some() || self.answers.is_some()
    }

    /// Applies the flags to the settings of a run. What follows from other settings is set between
    /// the flags that it depends on and those that override it.
    pub(crate) fn apply(
        &self,
        studies: &Studies,
        experiment: &str,
        settings: &mut StudySettings,
    ) -> Result<(), CliError> {
        let before = settings.runtime.model.kind;
        self.choose(&mut settings.runtime)?;
        self.batches.apply(&mut settings.runtime.model)?;
        self.embed_elsewhere(studies, experiment, settings);
        self.belong_together(studies, experiment, settings)?;
        record_server(&mut settings.runtime.model);
        studies.pace(experiment, settings, before);
        self.limits.apply(&mut settings.runtime.limits);
        settings.runtime.check("model").map_err(|wrong| CliError::usage(wrong.to_string()))
    }

    /// The server that the flags name, or else the config; one that is only recorded is none.
    pub(super) fn named_server(&self, model: &ModelConfig) -> Option<NamedUrl> {
        match (&self.base_url, &model.base_url) {
            (Some(url), _) => Some(NamedUrl::from_user(url)),
            (None, BaseUrl::Named(url)) => Some(url.clone()),
            (None, BaseUrl::Recorded(_) | BaseUrl::BuiltIn) => None,
        }
    }

    /// Which model answers, with the flags applied.
    fn choose(&self, runtime: &mut Runtime) -> Result<(), CliError> {
        let ModelArgs {
            model,
            answers,
            base_url,
            endpoints,
            endpoint_keys,
            key_file: _,
            key: _,
            trust: _,
            limits: _,
            batches: _,
        } = self;
        let chosen = self.kind(&runtime.model)?;
        let ModelConfig { base_url: url, answers: file, .. } = &mut runtime.model;
        if let Some(path) = answers {
            *file = Some(AnswersFile::Named(path.clone()));
        }
        if let Some(base_url) = base_url {
            *url = BaseUrl::Named(NamedUrl::from_user(base_url));
        }
        once_each(endpoints, "--endpoint", "MODEL=URL")?;
        once_each(endpoint_keys, "--endpoint-key", "MODEL=VARIABLE")?;
        for given in endpoints {
            let (name, url) = pair(given, "--endpoint", "MODEL=URL")?;
            // A key variable that was named for another server is not used for this one.
            let (base_url, key) = (BaseUrl::Named(NamedUrl::from_user(url)), KeyVariable::Unnamed);
            let before = runtime.model.endpoints.get(name);
            let kind = before.map_or(ApiKind::default(), |before| before.kind);
            let endpoint = EndpointConfig { base_url, kind, key };
            runtime.model.endpoints.insert(name.to_owned(), endpoint);
        }
        for given in endpoint_keys {
            let (name, variable) = pair(given, "--endpoint-key", "MODEL=VARIABLE")?;
            let Some(endpoint) = runtime.model.endpoints.get_mut(name) else {
                let message = format!(
                    "--endpoint-key: there is no endpoint for the model {:?}",
                    printable(name, 100)
                );
                return Err(
                    CliError::usage(message).hint("name its server with --endpoint MODEL=URL")
                );
            };
            let variable = KeyVariable::from_name(variable);
            endpoint.key = variable.map_err(|wrong| {
                CliError::usage(format!("--endpoint-key of {:?}: {wrong}", printable(name, 100)))
            })?;
        }
        if answers.is_some() && (base_url.is_some() || !endpoints.is_empty()) {
            let other = if base_url.is_some() { "--base-url" } else { "--endpoint" };
            return Err(CliError::usage(format!(
                "--answers and {other} contradict each other: give only one of them"
            )));
        }
        if let Some(choice) = model {
            self.names_one_model(choice, chosen)?;
        }
        // Another provider is at its own server, wherever the run was recorded from.
        let is_elsewhere = chosen.api() != runtime.model.kind.api();
        if model.is_some() && is_elsewhere && matches!(runtime.model.base_url, BaseUrl::Recorded(_))
        {
            runtime.model.base_url = BaseUrl::BuiltIn;
        }
        runtime.model.kind = chosen;
        Ok(())
    }

    /// Checks that no other flag needs another kind of model: it would be ignored.
    fn names_one_model(&self, choice: &ModelChoice, kind: ModelKind) -> Result<(), CliError> {
        let is_at_server = kind.api().is_some();
        let others = [
            ("--answers", self.answers.is_some(), kind == ModelKind::Scripted),
            ("--base-url", self.base_url.is_some(), is_at_server),
            ("--endpoint", !self.endpoints.is_empty(), is_at_server),
        ];
        match others.iter().find(|(_, is_given, fits)| *is_given && !fits) {
            Some((flag, ..)) => {
                let name = match choice {
                    ModelChoice::Kind(kind) => kind.as_str().to_owned(),
                    ModelChoice::Named(name) => printable(name, 100),
                };
                Err(CliError::usage(format!(
                    "--model {name} and {flag} contradict each other: give only one of them"
                )))
            }
            None => Ok(()),
        }
    }

    /// What the run may use.
    pub(crate) fn budget(&self) -> &BudgetArgs {
        &self.limits.budget
    }

    /// The same for each of several runs, none of which may use alone what all may use together.
    pub(crate) fn of_each(&self) -> Self {
        ModelArgs { limits: self.limits.of_each(), ..self.clone() }
    }

    /// The prices of tokens: from the given file, or built in.
    pub(crate) fn prices(&self) -> Result<Prices, CliError> {
        self.limits.budget.prices()
    }
}

/// Puts the server that is asked without being named into the settings: they record what was asked.
fn record_server(model: &mut ModelConfig) {
    let ModelConfig { kind, base_url, .. } = model;
    let Some(api) = kind.api().filter(|_| *base_url == BaseUrl::BuiltIn) else { return };
    *base_url = BaseUrl::Named(environment_url(api).unwrap_or_else(|| own_url(api)));
}

/// Checks that a flag names each model once: it would be unclear which of two was meant.
fn once_each(given: &[String], flag: &str, form: &str) -> Result<(), CliError> {
    let mut names = BTreeSet::new();
    for given in given {
        let (name, _) = pair(given, flag, form)?;
        if !names.insert(name) {
            let name = printable(name, 100);
            return Err(CliError::usage(format!("{flag}: the model {name:?} is named twice"))
                .hint(format!("give {flag} {form} once for each model")));
        }
    }
    Ok(())
}

/// The two sides of `MODEL=VALUE`. Errors do not show the text, which may be a key.
pub(super) fn pair<'a>(
    given: &'a str,
    flag: &str,
    form: &str,
) -> Result<(&'a str, &'a str), CliError> {
    let pair = given.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    let pair = pair.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    pair.ok_or_else(|| CliError::usage(format!("{flag}: write {form}")))
}
