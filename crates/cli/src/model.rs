//! Which model answers: decided by the config, the flags and the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use secrecy::SecretString;

use crate::again;
use crate::error::{CliError, Status};
use crate::limits::LimitArgs;
use retold::encoding::read_by_hand;
use retold::event::RunStarted;
use retold::inert::inert;
use retold::jsonl::JsonlReader;
use retold::model::openai::{OpenAi, OpenAiError, OpenAiSettings, Spoken};
use retold::model::scripted::{LoadError, Scripted};
use retold::model::simulated::{Misbehaviour, Simulated};
use retold::model::{Answerer, ByName, NamedUrl, Prices, without_secrets};
use retold::run::Mode;
use retold_study::config::{
    AnswersFile, ApiKind, BaseUrl, EndpointConfig, KeyVariable, ModelConfig, ModelKind, Rates,
    Runtime,
};
use retold_study::studies::Studies;
use retold_study::study::StudySettings;
use retold_wire::clients::{self, Client};
use retold_wire::dialect;

/// Which model answers. Each flag overrides the config.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArgs {
    /// Where answers come from.
    #[arg(long, value_enum)]
    model: Option<Kind>,
    /// Answer from this exchanges file (JSON Lines, plain or .gz or .zst; `-` for standard input);
    /// implies --model scripted.
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// The base URL of the API, up to and including /v1 for OpenAI's; implies --model openai unless
    /// the config has another API. The default is the config's, then OPENAI_BASE_URL (for other
    /// APIs, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL), then the provider's own. A URL that is
    /// only in the settings of a recorded run is never used.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Use another server for the requests of one model: MODEL=URL. Can be repeated; implies
    /// --model openai unless the config has another API. In a config, use model.endpoints. An endpoint for a model that the settings
    /// do not name is refused. The key from OPENAI_API_KEY or --key-file is not sent to it.
    #[arg(long = "endpoint", value_name = "MODEL=URL")]
    endpoints: Vec<String>,
    /// The environment variable with the API key for a model's endpoint: MODEL=VARIABLE. Can be
    /// repeated. It is never recorded: give it again to resume or fork.
    #[arg(long = "endpoint-key", value_name = "MODEL=VARIABLE")]
    endpoint_keys: Vec<String>,
    /// Read the API key from this file instead of OPENAI_API_KEY (ANTHROPIC_API_KEY, GEMINI_API_KEY).
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A program that makes up answers.
    Simulated,
    /// Any OpenAI-compatible server.
    Openai,
    /// Answers from a file.
    Scripted,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// OpenAI's Responses API.
    Responses,
}

impl From<Kind> for ModelKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Simulated => ModelKind::Simulated,
            Kind::Openai => ModelKind::Openai,
            Kind::Scripted => ModelKind::Scripted,
            Kind::Anthropic => ModelKind::Anthropic,
            Kind::Gemini => ModelKind::Gemini,
            Kind::Responses => ModelKind::Responses,
        }
    }
}

impl ModelArgs {
    /// The config with the flags applied.
    pub(crate) fn apply(&self, runtime: &mut Runtime) -> Result<(), CliError> {
        let ModelArgs { model, answers, base_url, endpoints, endpoint_keys, key_file: _, limits } =
            self;
        let ModelConfig { kind, base_url: url, answers: file, .. } = &mut runtime.model;
        if let Some(path) = answers {
            (*kind, *file) = (ModelKind::Scripted, Some(AnswersFile::Named(path.clone())));
        }
        if let Some(base_url) = base_url {
            (*kind, *url) = (at_server(*kind), BaseUrl::Named(NamedUrl::given(base_url)));
        }
        once_each(endpoints, "--endpoint", "MODEL=URL")?;
        once_each(endpoint_keys, "--endpoint-key", "MODEL=VARIABLE")?;
        for given in endpoints {
            let (name, url) = pair(given, "--endpoint", "MODEL=URL")?;
            // A key variable that was named for another server is not used for this one.
            let (base_url, key) = (BaseUrl::Named(NamedUrl::given(url)), KeyVariable::Unnamed);
            let before = runtime.model.endpoints.get(name);
            let kind = before.map_or(ApiKind::default(), |before| before.kind);
            let endpoint = EndpointConfig { base_url, kind, key };
            runtime.model.endpoints.insert(name.to_owned(), endpoint);
            runtime.model.kind = at_server(runtime.model.kind);
        }
        for given in endpoint_keys {
            let (name, variable) = pair(given, "--endpoint-key", "MODEL=VARIABLE")?;
            let Some(endpoint) = runtime.model.endpoints.get_mut(name) else {
                let message = format!(
                    "--endpoint-key: there is no endpoint for the model {:?}",
                    inert(name, 100)
                );
                return Err(
                    CliError::usage(message).hint("name its server with --endpoint MODEL=URL")
                );
            };
            let variable = KeyVariable::given(variable);
            endpoint.key = variable.map_err(|wrong| {
                CliError::usage(format!("--endpoint-key of {:?}: {wrong}", inert(name, 100)))
            })?;
        }
        let ModelConfig { kind, base_url: url, .. } = &mut runtime.model;
        if answers.is_some() && (base_url.is_some() || !endpoints.is_empty()) {
            let other = if base_url.is_some() { "--base-url" } else { "--endpoint" };
            return Err(CliError::usage(format!(
                "--answers and {other} contradict each other: give only one of them"
            )));
        }
        if let Some(kind) = model {
            self.names_one_model(*kind)?;
        }
        if let Some(model) = model {
            *kind = (*model).into();
        }
        if let Some(api) = kind.api()
            && *url == BaseUrl::BuiltIn
        {
            // The settings record what was asked.
            match environment_url(api) {
                Some(named) => *url = BaseUrl::Named(named),
                None if api != ApiKind::Openai => *url = BaseUrl::Named(own_url(api)),
                None => {}
            }
        }
        limits.apply(&mut runtime.limits);
        runtime.check("model").map_err(|wrong| CliError::usage(wrong.to_string()))
    }

    /// Checks that no other flag needs another kind of model: it would be ignored.
    fn names_one_model(&self, kind: Kind) -> Result<(), CliError> {
        let is_at_server = ModelKind::from(kind).api().is_some();
        let others = [
            ("--answers", self.answers.is_some(), kind == Kind::Scripted),
            ("--base-url", self.base_url.is_some(), is_at_server),
            ("--endpoint", !self.endpoints.is_empty(), is_at_server),
        ];
        match others.iter().find(|(_, is_given, fits)| *is_given && !fits) {
            Some((flag, ..)) => {
                let name = kind.to_possible_value();
                let name = name.as_ref().map_or("", |name| name.get_name());
                Err(CliError::usage(format!(
                    "--model {name} and {flag} contradict each other: give only one of them"
                )))
            }
            None => Ok(()),
        }
    }

    /// The prices of tokens: from the given file, or built in.
    pub(crate) fn prices(&self) -> Result<Prices, CliError> {
        self.limits.prices()
    }

    /// Creates the model.
    pub(crate) fn make(
        &self,
        studies: &Studies,
        experiment: &str,
        seed: u64,
        runtime: &Runtime,
        mode: Mode,
    ) -> Result<Answerer, CliError> {
        let ModelConfig { kind, rates, latency_ms, .. } = &runtime.model;
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
                let latency =
                    Duration::try_from_secs_f64(latency_ms / 1000.0).unwrap_or(Duration::ZERO);
                let rates = Misbehaviour {
                    malformed,
                    malformed_kinds,
                    truncated,
                    rate_limited,
                    server_error,
                    failure,
                    latency,
                };
                let player = studies.player(experiment);
                let player = player.map_err(|e| CliError::usage(e.to_string()))?;
                Ok(Arc::new(Simulated::new(seed, rates, player)))
            }
            ModelKind::Scripted => Ok(self.scripted(runtime, mode)?),
            ModelKind::Openai => self.servers(runtime, ApiKind::Openai),
            ModelKind::Anthropic => self.servers(runtime, ApiKind::Anthropic),
            ModelKind::Gemini => self.servers(runtime, ApiKind::Gemini),
            ModelKind::Responses => self.servers(runtime, ApiKind::Responses),
        }
    }

    /// The answers in the given file.
    pub(crate) fn scripted(
        &self,
        runtime: &Runtime,
        mode: Mode,
    ) -> Result<Arc<Scripted>, CliError> {
        let answers = &runtime.model.answers;
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
        // A run without answers would stop at its first question and stay unfinished.
        if scripted.is_empty() {
            return Err(CliError::usage(format!("{name} has no answers"))
                .hint("give an exchanges file: JSON Lines of {\"request\":..,\"response\":..}"));
        }
        // There is no way to know which of them an interrupted run has used, and none may be used
        // twice.
        if mode == Mode::Resume && scripted.unaddressed() > 0 {
            return Err(CliError::usage(format!(
                "{name} has answers without \"call\", which are used in file order: such a run \
                 cannot be resumed"
            ))
            .hint("give each line its \"call\", or record a new run"));
        }
        Ok(Arc::new(scripted))
    }

    /// The servers: the one at the base URL, and those for single models.
    fn servers(&self, runtime: &Runtime, api: ApiKind) -> Result<Answerer, CliError> {
        let ModelConfig { base_url, endpoints, .. } = &runtime.model;
        let timeout = runtime.limits.timeout();
        let base_url = named(base_url, api).map_err(|Unnamed { url }| unnamed_url(url))?;
        let key = self.key(&base_url, api)?;
        let others = server(api, base_url, key, timeout)?;
        if endpoints.is_empty() {
            return others.ok_or_else(|| {
                let variable = client(api).keys.first().unwrap_or(&"OPENAI_API_KEY");
                CliError::usage(format!("no API key: set {variable} or give --key-file FILE"))
                    .hint("--model simulated needs no key")
            });
        }
        let mut all = BTreeMap::new();
        for (name, EndpointConfig { base_url, kind, key }) in endpoints {
            let shown = inert(name, 100);
            let base_url = match base_url {
                BaseUrl::Named(url) => url.clone(),
                BaseUrl::Recorded(url) => return Err(unnamed_endpoint(name, url)),
                BaseUrl::BuiltIn => own_url(*kind),
            };
            let key = match key {
                KeyVariable::Unnamed => None,
                KeyVariable::Named(variable) => Some(environment(variable).ok_or_else(|| {
                    CliError::usage(format!(
                        "the environment variable for the key of the endpoint of {shown:?} is not set"
                    ))
                    .hint("set it to the key, or name another variable with --endpoint-key MODEL=VARIABLE")
                })?),
            };
            let wrong = |e: OpenAiError| CliError::usage(format!("the endpoint of {shown:?}: {e}"));
            let model = server(*kind, base_url, key, timeout).map_err(wrong)?;
            let model = model.ok_or_else(|| {
                CliError::usage(format!("no API key for the endpoint of {shown:?}"))
                    .hint("name the variable that has the key: `key` in the config, or --endpoint-key MODEL=VARIABLE")
            })?;
            all.insert(name.clone(), model);
        }
        Ok(Arc::new(ByName::new(all, others)))
    }

    /// Checks that each endpoint named in this command is for a model that the settings name: a
    /// misspelt name must not send prompts for the user's own server to another one. `recorded` is
    /// the beginning of the run that is resumed or forked; models with endpoints in it may be named
    /// again.
    pub(crate) fn endpoints_are_used(
        &self,
        studies: &Studies,
        experiment: &str,
        settings: &StudySettings,
        recorded: Option<&RunStarted>,
    ) -> Result<(), CliError> {
        let ModelConfig { kind, endpoints, .. } = &settings.runtime.model;
        if endpoints.is_empty() {
            return Ok(());
        }
        let Some(models) = studies.models(experiment, &settings.experiment) else { return Ok(()) };
        let was_recorded = |name: &str| {
            recorded
                .is_some_and(|run| !run.settings["runtime"]["model"]["endpoints"][name].is_null())
        };
        let unused = |name: &&String| !models.contains(*name) && !was_recorded(name);
        match endpoints.keys().find(unused) {
            Some(name) if kind.api().is_some() => Err(CliError::usage(format!(
                "there is an endpoint for the model {:?}, but the settings do not name such a model",
                inert(name, 100)
            ))
            .hint(if models.is_empty() { "the settings do not name any model".to_owned() } else { let models = models.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                    format!("they name these models: {}", inert(&models, 300)) })),
            _ => Ok(()),
        }
    }

    /// Whether these settings would use a server or a file that only a recording names.
    pub(crate) fn is_unnamed(&self, runtime: &Runtime) -> bool {
        let ModelConfig { kind, base_url, endpoints, answers, .. } = &runtime.model;
        let is_unnamed =
            |endpoint: &EndpointConfig| matches!(endpoint.base_url, BaseUrl::Recorded(_));
        match kind.api() {
            None if *kind == ModelKind::Simulated => false,
            None => matches!(answers, None | Some(AnswersFile::Recorded(_))),
            Some(api) => named(base_url, api).is_err() || endpoints.values().any(is_unnamed),
        }
    }

    /// The key for a server named by the user, from the file or the environment. Never shown.
    fn key(&self, _server: &NamedUrl, api: ApiKind) -> Result<Option<SecretString>, CliError> {
        let text = match &self.key_file {
            Some(path) => Some(read_by_hand(path).map_err(|e| {
                let message = format!("cannot read the key file {}: {e}", path.display());
                CliError::new(Status::Io, message)
            })?),
            None => environment_key(api),
        };
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        Ok(text.map(SecretString::from))
    }
}

/// A model at a server; `None` if the server is on another machine and there is no key for it.
fn server(
    api: ApiKind,
    base_url: NamedUrl,
    key: Option<SecretString>,
    timeout: Duration,
) -> Result<Option<Answerer>, OpenAiError> {
    let keyless = key.is_none();
    let settings = OpenAiSettings { base_url, key, timeout };
    let model: Answerer = match dialect::speech(api.as_str()) {
        Some(speech) => Arc::new(Spoken::new(speech, settings)?),
        None => Arc::new(OpenAi::new(settings)?),
    };
    let local = model.info().source.is_some_and(|s| is_local(&s));
    Ok((local || !keyless).then_some(model))
}

/// A kind of model that a server answers for: the given one, if it is such a kind.
fn at_server(kind: ModelKind) -> ModelKind {
    if kind.api().is_some() { kind } else { ModelKind::Openai }
}

/// What the environment and the provider have for an API.
fn client(api: ApiKind) -> &'static Client {
    let upstream = match api {
        ApiKind::Openai | ApiKind::Responses => "openai",
        ApiKind::Anthropic => "anthropic",
        ApiKind::Gemini => "gemini",
    };
    clients::of(upstream).unwrap_or(&clients::CLIENTS[0])
}

/// The provider's own base URL, which is built into the program.
fn own_url(api: ApiKind) -> NamedUrl {
    client(api).default.map_or_else(NamedUrl::openai, NamedUrl::given)
}

/// Checks that a flag names each model once: it would be unclear which of two was meant.
fn once_each(given: &[String], flag: &str, form: &str) -> Result<(), CliError> {
    let mut names = BTreeSet::new();
    for given in given {
        let (name, _) = pair(given, flag, form)?;
        if !names.insert(name) {
            let name = inert(name, 100);
            return Err(CliError::usage(format!("{flag}: the model {name:?} is named twice"))
                .hint(format!("give {flag} {form} once for each model")));
        }
    }
    Ok(())
}

/// The two sides of `MODEL=VALUE`. Errors do not show the text, which may be a key.
fn pair<'a>(given: &'a str, flag: &str, form: &str) -> Result<(&'a str, &'a str), CliError> {
    let pair = given.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    let pair = pair.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    pair.ok_or_else(|| CliError::usage(format!("{flag}: write {form}")))
}

/// The key in an environment variable named by the user.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment(variable: &str) -> Option<SecretString> {
    let key = std::env::var(variable).ok()?;
    Some(key.trim()).filter(|key| !key.is_empty()).map(SecretString::from)
}

#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment_key(api: ApiKind) -> Option<String> {
    let set = |name: &&str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    client(api).keys.iter().find_map(set)
}

/// The base URL from the environment.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn environment_url(api: ApiKind) -> Option<NamedUrl> {
    let url = std::env::var(client(api).variables.first()?).ok()?;
    Some(url.trim()).filter(|url| !url.is_empty()).map(NamedUrl::given)
}

/// A URL that only a recording names.
struct Unnamed<'a> {
    url: &'a str,
}

/// The URL, if the user or the program names it. A URL that a recording names is only used if the
/// same server would be used without it.
fn named(url: &BaseUrl, api: ApiKind) -> Result<NamedUrl, Unnamed<'_>> {
    let default = || environment_url(api).unwrap_or_else(|| own_url(api));
    match url {
        BaseUrl::Named(url) => Ok(url.clone()),
        BaseUrl::BuiltIn => Ok(default()),
        BaseUrl::Recorded(url) => Some(default()).filter(|d| d.is_at(url)).ok_or(Unnamed { url }),
    }
}

fn unnamed_url(recorded: &str) -> CliError {
    let url = without_secrets(recorded);
    let Some(again) = again::with("--base-url", &url) else {
        return CliError::usage("the base URL recorded with this run cannot be used")
            .hint("name the server to ask with --base-url URL");
    };
    CliError::usage(format!(
        "this run was recorded from {url}, and nothing in this command names that server"
    ))
    .hint(
        "recordings can come from anyone, so they never decide where prompts and your key are sent",
    )
    .hint(format!("if you trust that server: {again}"))
}

fn unnamed_endpoint(model: &str, recorded: &str) -> CliError {
    let url = without_secrets(recorded);
    let shown = inert(model, 100);
    let error = CliError::usage(format!(
        "this run was recorded with an endpoint for the model {shown:?} at {url}, and nothing in this command names that \
         server"
    ))
    .hint("recordings can come from anyone, so they never decide where prompts and your keys are sent");
    match again::with("--endpoint", &format!("{model}={url}")) {
        Some(again) if !url.is_empty() => error.hint(format!(
            "if you trust that server: {again} (and --endpoint-key MODEL=VARIABLE, if it needs a key)"
        )),
        _ => error.hint("name the server to ask with --endpoint MODEL=URL"),
    }
}

fn unnamed_answers(recorded: &Path) -> CliError {
    let path = recorded.display().to_string();
    let shown = inert(&path, 200);
    let error = CliError::usage(format!(
        "this run was recorded from the answers in {shown}, and nothing in this command names that file"
    ))
    .hint("recordings can come from anyone, so they never decide which files are read");
    match again::with("--answers", &path) {
        Some(again) => error.hint(format!("if you want to use that file: {again}")),
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
