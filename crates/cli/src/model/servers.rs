//! The servers that answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::ModelArgs;
use super::addresses::{environment, environment_key, named_url};
use super::names::{named_endpoint, usual_url};
use super::unnamed::unnamed_servers;
use crate::error::{CliError, Status};
use retold::encoding::read_by_hand;
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::model::openai::{OpenAiError, OpenAiSettings, at_server};
use retold::model::{Answerer, ByName, NamedUrl, ServiceTier};
use retold::prompt::Api;
use retold_study::config::{
    AnswersFile, ApiKind, EndpointConfig, KeyVariable, ModelConfig, ModelKind, Runtime,
};
use retold_study::studies::Studies;
use retold_study::study::StudySettings;

impl ModelArgs {
    /// The servers: the one at the base URL, and those for single models.
    pub(super) fn servers(&self, runtime: &Runtime, api: ApiKind) -> Result<Answerer, CliError> {
        let ModelConfig { base_url, endpoints, tier, .. } = &runtime.model;
        let timeout = runtime.limits_in_tier().timeout();
        let unnamed = || unnamed_servers(&runtime.model, api);
        let base_url = named_url(base_url, api).map_err(|_| unnamed())?;
        let key = self.key(&base_url, api)?;
        let others = server(api, base_url, key, timeout, *tier)?;
        if endpoints.is_empty() {
            return others.ok_or_else(|| {
                let variable = api.access().provider.keys.first().unwrap_or(&"OPENAI_API_KEY");
                CliError::usage(format!("no API key: set {variable} or give --key-file FILE"))
                    .hint("--model simulated needs no key")
            });
        }
        let mut all = BTreeMap::new();
        for (name, EndpointConfig { base_url, kind, key }) in endpoints {
            let shown = printable(name, 100);
            let base_url = named_endpoint(base_url, *kind).ok_or_else(unnamed)?;
            let key = match key {
                // Where the provider is asked anyway, with the key that it is asked with.
                KeyVariable::Unnamed if usual_url(*kind).is_at(base_url.as_str()) => {
                    environment_key(*kind).map(SecretString::from)
                }
                KeyVariable::Unnamed => None,
                KeyVariable::Named(variable) => Some(environment(variable).ok_or_else(|| {
                    CliError::usage(format!(
                        "the environment variable for the key of the endpoint of {shown:?} is not set"
                    ))
                    .hint("set it to the key, or name another variable with --endpoint-key MODEL=VARIABLE")
                })?),
            };
            let wrong = |e: OpenAiError| CliError::usage(format!("the endpoint of {shown:?}: {e}"));
            let model = server(*kind, base_url, key, timeout, *tier).map_err(wrong)?;
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
                printable(name, 100)
            ))
            .hint(if models.is_empty() { "the settings do not name any model".to_owned() } else { let models = models.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                    format!("they name these models: {}", printable(&models, 300)) })),
            _ => Ok(()),
        }
    }

    /// Checks, without asking, that the model can be asked all that a run with these settings asks:
    /// what cannot be expressed would fail for everyone, after the calls before it were paid for.
    pub(crate) fn can_be_asked(
        studies: &Studies,
        experiment: &str,
        settings: &StudySettings,
        answerer: &Answerer,
    ) -> Result<(), CliError> {
        let study = studies.find(experiment);
        let samples = study.map(|study| study.samples(&settings.experiment)).unwrap_or_default();
        let refused =
            samples.iter().find_map(|request| Some((request, answerer.refuses(request)?)));
        let Some((request, why)) = refused else { return Ok(()) };
        let model = printable(request.model().unwrap_or(""), 100);
        let of = ApiKind::of_model(&model).filter(|_| request.api() == Api::Embedding);
        let of = of.filter(|api| api.access().has_embeddings());
        let key = of.and_then(|api| api.access().provider.keys.first());
        let error = CliError::usage(format!("the model {model:?} cannot be asked: {why}"));
        let error = match key {
            Some(key) => {
                error.hint(format!("set {key}: then {model} is asked of its own provider"))
            }
            None => error,
        };
        Err(error.hint(format!(
            "nothing was asked. --endpoint '{model}=URL' names another server for this model"
        )))
    }

    /// Whether these settings would use a server or a file that only a recording names.
    pub(crate) fn is_unnamed(&self, runtime: &Runtime) -> bool {
        let ModelConfig { kind, base_url, endpoints, answers, .. } = &runtime.model;
        let is_unnamed =
            |endpoint: &EndpointConfig| named_endpoint(&endpoint.base_url, endpoint.kind).is_none();
        match kind.api() {
            None if *kind == ModelKind::Simulated => false,
            None => matches!(answers, None | Some(AnswersFile::Recorded(_))),
            Some(api) => named_url(base_url, api).is_err() || endpoints.values().any(is_unnamed),
        }
    }

    /// The key for a server named by the user, from the flag, the file or the environment. Never shown.
    fn key(&self, _server: &NamedUrl, api: ApiKind) -> Result<Option<SecretString>, CliError> {
        let given = self.key.as_ref().map(|key| key.expose_secret().to_owned());
        let text = match &self.key_file {
            _ if given.is_some() => given,
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
    tier: Option<ServiceTier>,
) -> Result<Option<Answerer>, OpenAiError> {
    let keyless = key.is_none();
    let settings = OpenAiSettings { base_url, key, timeout, tier };
    let model = at_server(api.access(), settings)?;
    let local = model.info().source.is_some_and(|s| is_local(&s));
    Ok((local || !keyless).then_some(model))
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
