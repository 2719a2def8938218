//! Names of models in flags and configs: `PROVIDER/MODEL`, or the model's own name if it says whose it is.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::ModelArgs;
use super::addresses::{environment_key, environment_url, own_url};
use crate::error::CliError;
use retold::escaping::printable;
use retold::id::RunId;
use retold::model::NamedUrl;
use retold::model::providers::is_known_host;
use retold_study::config::{
    ApiKind, BaseUrl, EndpointConfig, KeyVariable, ModelConfig, ModelKind, Runtime,
};
use retold_study::studies::Studies;
use retold_study::study::StudySettings;

/// What `--model` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelChoice {
    /// The kind alone: the config names the models.
    Kind(ModelKind),
    /// A model, which answers in the place of all that the config names.
    Named(String),
}

impl FromStr for ModelChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (ModelKind::from_name(text), text.trim()) {
            (Some(kind), _) => Ok(ModelChoice::Kind(kind)),
            (None, "") => Err("the name of a model is empty"),
            (None, name) => Ok(ModelChoice::Named(name.to_owned())),
        }
    }
}

/// A model as it is asked: through which API, and under which name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AskedModel<'a> {
    api: ApiKind,
    name: &'a str,
}

impl ModelArgs {
    /// Which kind of model answers, with the flags applied.
    pub(super) fn kind(&self, model: &ModelConfig) -> Result<ModelKind, CliError> {
        Ok(match &self.model {
            Some(ModelChoice::Kind(kind)) => *kind,
            Some(ModelChoice::Named(name)) => ModelKind::Server(self.asked_model(name, model)?.api),
            None if self.base_url.is_some() || !self.endpoints.is_empty() => at_server(model.kind),
            None if self.answers.is_some() => ModelKind::Scripted,
            // A key is for a server: it would be ignored without a word.
            None if self.key.is_some() && model.kind == ModelKind::Simulated => {
                at_server(model.kind)
            }
            None => model.kind,
        })
    }

    /// Whether a model is named, rather than a kind alone.
    pub(crate) fn names_model(&self) -> bool {
        matches!(self.model, Some(ModelChoice::Named(_)))
    }

    /// The server that the user names. It takes precedence over the one that a model's name implies.
    fn server<'a>(&'a self, model: &'a ModelConfig) -> Option<&'a str> {
        match &model.base_url {
            _ if self.base_url.is_some() => self.base_url.as_deref(),
            BaseUrl::Named(url) => Some(url.as_str()),
            BaseUrl::Recorded(url) => Some(url),
            BaseUrl::BuiltIn => None,
        }
    }

    /// How the model of a name is asked.
    fn asked_model<'a>(
        &self,
        name: &'a str,
        model: &ModelConfig,
    ) -> Result<AskedModel<'a>, CliError> {
        let server = self.server(model);
        let of_config = model.kind.api();
        if let Some((api, rest)) = in_name(name, server) {
            return Ok(AskedModel { api, name: rest });
        }
        let is_endpoint = |given: &String| given.split_once('=').is_some_and(|(of, _)| of == name);
        if server.is_some()
            || self.endpoints.iter().any(is_endpoint)
            || model.endpoints.contains_key(name)
        {
            return Ok(AskedModel { api: of_config.unwrap_or_default(), name });
        }
        let usual = ApiKind::default();
        let is_usual_named = environment_url(usual).is_some();
        let api = match ApiKind::of_model(name) {
            // One provider may have several APIs.
            Some(api) if of_config.is_some_and(|of| is_of_one_provider(of, api)) => of_config,
            Some(api) if is_usual_named && environment_url(api).is_none() => Some(usual),
            Some(api) => Some(api),
            None if is_usual_named => Some(usual),
            None => of_config,
        };
        let api = api.ok_or_else(|| {
            let shown = printable(name, 100);
            CliError::usage(format!("--model {shown:?}: which provider has it is not known"))
                .hint(format!(
                    "write PROVIDER/MODEL, such as openai/{shown}: the providers are {}",
                    providers()
                ))
                .hint("--base-url URL names a server of your own that speaks like OpenAI's")
                .hint(format!("without a name, --model is one of {}", kinds()))
        })?;
        Ok(AskedModel { api, name })
    }

    /// Gives the models of a study the names under which they are asked: that of `--model` to all that answer in text, and to
    /// the others the name without its provider, which gets an endpoint if another one answers the rest. Those of a recorded
    /// run, in `kept`, are names as they were asked.
    pub(crate) fn name(
        &self,
        studies: &Studies,
        experiment: &str,
        settings: &mut StudySettings,
        kept: &BTreeSet<String>,
    ) -> Result<(), CliError> {
        let Runtime { model, .. } = &mut settings.runtime;
        let named = match &self.model {
            Some(ModelChoice::Named(name)) => Some(self.asked_model(name, model)?.name),
            _ => None,
        };
        let main = self.kind(model)?.api();
        let server = self.server(model).map(str::to_owned);
        let (mut elsewhere, mut is_named) = (Vec::new(), false);
        let renamed =
            studies.rename_models(experiment, &mut settings.experiment, |name, is_chat| {
                if let Some(named) = named.filter(|_| is_chat) {
                    is_named = true;
                    *name = named.to_owned();
                } else if let Some((api, rest)) =
                    in_name(name, server.as_deref()).filter(|_| !kept.contains(name))
                {
                    let rest = rest.to_owned();
                    if main.is_some_and(|main| main != api) {
                        elsewhere.push((rest.clone(), api));
                    }
                    *name = rest;
                }
            });
        renamed.map_err(|e| CliError::usage(format!("settings: {e}")))?;
        if let Some(name) = named.filter(|_| !is_named) {
            let (experiment, name) = (printable(experiment, 60), printable(name, 100));
            let message =
                format!("--model: {experiment} does not say where its settings name models");
            return Err(CliError::usage(message)
                .hint(format!("give its own setting, such as --set request.model={name}")));
        }
        let named = self.named_server(&settings.runtime.model);
        for (name, api) in elsewhere {
            let url = named.clone().unwrap_or_else(|| usual_url(api));
            let endpoint = endpoint_at(url, api);
            settings.runtime.model.endpoints.entry(name).or_insert(endpoint);
        }
        Ok(())
    }

    /// Checks that a run which is continued keeps its models: they are in all of its prompts.
    pub(crate) fn keeps_models(
        &self,
        studies: &Studies,
        experiment: &str,
        settings: &StudySettings,
        run: RunId,
    ) -> Result<(), CliError> {
        let Some(ModelChoice::Named(given)) = &self.model else { return Ok(()) };
        let asked = self.asked_model(given, &settings.runtime.model)?.name;
        let models = studies.models(experiment, &settings.experiment).unwrap_or_default();
        let embeddings = studies.embedding_models(experiment, &settings.experiment);
        let mut others = models.difference(&embeddings).filter(|name| *name != asked);
        let Some(other) = others.next() else { return Ok(()) };
        let (run, other) = (run.short(8), printable(other, 100));
        Err(CliError::usage(format!(
            "run {run} asks {other}, and a run that is continued keeps its models"
        ))
        .hint(format!(
            "`retold fork {run} --model {}` records a new run with another model",
            printable(given, 100)
        ))
        .hint(format!("without a name, --model is one of {}", kinds())))
    }

    /// Sends embeddings to the provider that their model is of, if the one that answers the rest has none and there is a key
    /// for it.
    pub(super) fn embed_elsewhere(
        &self,
        studies: &Studies,
        experiment: &str,
        settings: &mut StudySettings,
    ) {
        let models = studies.embedding_models(experiment, &settings.experiment);
        let model = &mut settings.runtime.model;
        let Some(main) = model.kind.api().filter(|api| !api.access().has_embeddings()) else {
            return;
        };
        for name in models {
            let api = ApiKind::of_model(&name).filter(|api| *api != main);
            let api = api.filter(|api| api.access().has_embeddings());
            let api = api
                .filter(|api| environment_key(*api).is_some() || environment_url(*api).is_some());
            if let Some(api) = api {
                model.endpoints.entry(name).or_insert_with(|| endpoint_at(usual_url(api), api));
            }
        }
    }

    /// Checks that the models are the provider's own which is asked, unless a server is named: it may have any.
    pub(super) fn belong_together(
        &self,
        studies: &Studies,
        experiment: &str,
        settings: &StudySettings,
    ) -> Result<(), CliError> {
        let ModelConfig { kind, base_url, endpoints, .. } = &settings.runtime.model;
        let Some(api) = kind.api().filter(|_| *base_url == BaseUrl::BuiltIn) else { return Ok(()) };
        if environment_url(api).is_some() {
            return Ok(());
        }
        let models = studies.models(experiment, &settings.experiment).unwrap_or_default();
        let embeddings = studies.embedding_models(experiment, &settings.experiment);
        let stranger = models.iter().find_map(|name| {
            let of = ApiKind::of_model(name)?;
            let is_ours = endpoints.contains_key(name) || is_of_one_provider(of, api);
            (!is_ours && !embeddings.contains(name)).then_some((name, of))
        });
        let Some((name, of)) = stranger else { return Ok(()) };
        let (of, api) = (of.as_str(), api.as_str());
        Err(CliError::usage(format!(
            "the settings name the model {name:?}, which {api} does not have"
        ))
        .hint(format!("nothing was asked. --model {of}/{name} asks its own provider"))
        .hint(format!("--model {api}/MODEL asks a model of {api} instead, by its name there"))
        .hint("--base-url URL names another server, which may have any model"))
    }
}

/// A provider's API at a server, with the provider's key.
fn endpoint_at(url: NamedUrl, api: ApiKind) -> EndpointConfig {
    EndpointConfig { base_url: BaseUrl::Named(url), kind: api, key: usual_key(api) }
}

/// The server of an endpoint, if the user names it, or if its provider is asked there anyway.
pub(super) fn named_endpoint(url: &BaseUrl, api: ApiKind) -> Option<NamedUrl> {
    match url {
        BaseUrl::Named(url) => Some(url.clone()),
        BaseUrl::BuiltIn => Some(own_url(api)),
        BaseUrl::Recorded(url) => Some(usual_url(api)).filter(|usual| usual.is_at(url)),
    }
}

/// Where a provider is asked if the user names no server.
pub(super) fn usual_url(api: ApiKind) -> NamedUrl {
    environment_url(api).unwrap_or_else(|| own_url(api))
}

/// The variable with a provider's key that is set, if one is.
pub(super) fn usual_key(api: ApiKind) -> KeyVariable {
    let keys = api.access().provider.keys.iter();
    let is_set = |name: &&&'static str| super::addresses::environment(name).is_some();
    keys.clone()
        .find(is_set)
        .map_or(KeyVariable::Unnamed, |name| KeyVariable::Named((*name).to_owned()))
}

/// The provider that a name begins with, and the rest. At the server of another provider, such as one that passes on to
/// many, it is a part of the name.
fn in_name<'a>(name: &'a str, server: Option<&str>) -> Option<(ApiKind, &'a str)> {
    let (api, rest) = ApiKind::in_name(name)?;
    let is_elsewhere = server
        .and_then(host)
        .is_some_and(|host| is_known_host(&host) && !api.access().provider.is_at(&host));
    (!is_elsewhere).then_some((api, rest))
}

/// The host of a URL.
pub(super) fn host(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.split(':').next()?.to_ascii_lowercase())
}

fn is_of_one_provider(one: ApiKind, other: ApiKind) -> bool {
    one.access().provider.name == other.access().provider.name
}

/// A kind of model that a server answers for: the given one, if it is such a kind.
pub(super) fn at_server(kind: ModelKind) -> ModelKind {
    if kind.api().is_some() { kind } else { ModelKind::Server(ApiKind::default()) }
}

/// The names with which models may begin.
fn providers() -> String {
    let apis = ModelKind::all().iter().filter_map(|kind| kind.api());
    apis.map(|api| api.as_str()).collect::<Vec<_>>().join(", ")
}

/// The kinds of model.
pub(crate) fn kinds() -> String {
    ModelKind::all().iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(args: ModelArgs, config: ModelConfig, name: &str) -> Option<(String, String)> {
        let asked = args.asked_model(name, &config).ok()?;
        Some((asked.api.as_str().to_owned(), asked.name.to_owned()))
    }

    /// As far as no variable names a server: the tests of the program set those.
    #[test]
    fn a_server_that_is_named_counts_more_than_a_name() {
        let at = |url: &str| ModelArgs { base_url: Some(url.to_owned()), ..ModelArgs::default() };
        let nothing = ModelArgs::default;
        let kind = |name: &str| ModelConfig {
            kind: ModelKind::from_name(name).unwrap(),
            ..ModelConfig::default()
        };
        let simulated = || kind("simulated");
        let router = "https://openrouter.ai/api/v1";
        for (args, config, name, due) in [
            (nothing(), simulated(), "anthropic/claude-x", Some(("anthropic", "claude-x"))),
            (nothing(), simulated(), "responses/gpt-5", Some(("responses", "gpt-5"))),
            (nothing(), simulated(), "claude-x", Some(("anthropic", "claude-x"))),
            (nothing(), simulated(), "gemini-2.5-flash", Some(("gemini", "gemini-2.5-flash"))),
            (nothing(), simulated(), "llama3", None),
            (nothing(), kind("openai"), "llama3", Some(("openai", "llama3"))),
            (nothing(), kind("openai"), "claude-x", Some(("anthropic", "claude-x"))),
            (nothing(), kind("responses"), "gpt-5", Some(("responses", "gpt-5"))),
            (at("http://127.0.0.1:1/v1"), simulated(), "claude-x", Some(("openai", "claude-x"))),
            (
                at("http://127.0.0.1:1/v1"),
                simulated(),
                "anthropic/claude-x",
                Some(("anthropic", "claude-x")),
            ),
            (
                at("http://127.0.0.1:1/v1"),
                kind("anthropic"),
                "my-model",
                Some(("anthropic", "my-model")),
            ),
            (at(router), simulated(), "anthropic/claude-x", Some(("openai", "anthropic/claude-x"))),
            (at(router), simulated(), "openai/gpt-4o", Some(("openai", "openai/gpt-4o"))),
        ] {
            let due = due.map(|(api, name)| (api.to_owned(), name.to_owned()));
            assert_eq!(asked(args, config, name), due, "{name}");
        }
    }

    #[test]
    fn a_choice_is_a_kind_or_a_name() {
        assert_eq!(
            "openai".parse(),
            Ok(ModelChoice::Kind(ModelKind::from_name("openai").unwrap()))
        );
        assert_eq!("simulated".parse(), Ok(ModelChoice::Kind(ModelKind::Simulated)));
        assert_eq!("gpt-4o".parse(), Ok(ModelChoice::Named("gpt-4o".to_owned())));
        assert!(" ".parse::<ModelChoice>().is_err());
        assert_eq!(host("https://u:p@Api.Example.org:444/v1").as_deref(), Some("api.example.org"));
    }
}
