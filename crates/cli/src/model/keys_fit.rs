//! Where keys go on the word of a config alone: somebody else may have written it, to get them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use super::ModelArgs;
use super::addresses::{environment_url, own_url, set_key};
use super::args::pair;
use crate::error::{CliError, Status};
use crate::runs::config::NamedConfig;
use retold::escaping::printable;
use retold::model::NamedUrl;
use retold_study::config::{BaseUrl, KeyVariable, ModelConfig, Runtime};

/// A variable whose key a config has sent to a server.
type Sending = (String, NamedUrl);

impl ModelArgs {
    /// Checks that each key that is sent because of a config goes to a server that such a key is usually for, or to one
    /// that the user has trusted with it. What flags name is the user's own choice.
    pub(crate) fn keys_fit(&self, runtime: &Runtime, config: &NamedConfig) -> Result<(), CliError> {
        let is_typed = |text: &str| {
            let mut values = config.settings.iter().filter_map(|setting| setting.split_once('='));
            values.any(|(_, value)| value.contains(text))
        };
        let known = trusted_pairs();
        let is_unknown = |(variable, url): &Sending| {
            let pair = url.server().map(|server| line(variable, &server));
            !url.is_usual_for(variable) && pair.is_none_or(|pair| !known.contains(&pair))
        };
        let unknown = self.sendings(runtime, &is_typed)?.into_iter().filter(is_unknown);
        for (variable, url) in unknown {
            let Some(server) = url.server() else { continue };
            if config.model.trust {
                remember(&variable, &server)?;
                continue;
            }
            let (shown, server) = (config.path.display(), printable(&server, 200));
            let message = format!(
                "{shown} has the key in {variable} sent to {server}, which such a key is usually not for"
            );
            return Err(CliError::usage(message)
                .hint("nothing was asked. If the config is your own or you have read it, add --trust: this variable and this server are then remembered")
                .hint("a server that you name yourself (--base-url, --endpoint, --endpoint-key) needs no --trust"));
        }
        Ok(())
    }

    fn sendings(
        &self,
        runtime: &Runtime,
        is_typed: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Sending>, CliError> {
        let ModelConfig { kind, base_url, endpoints, .. } = &runtime.model;
        let Some(api) = kind.api() else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        let is_key_given = self.key.is_some() || self.key_file.is_some();
        if let BaseUrl::Named(url) = base_url
            && self.base_url.is_none()
            && !is_key_given
            && !is_typed(url.as_str())
            && environment_url(api).as_ref() != Some(url)
            && let Some(variable) = set_key(api)
        {
            all.push((variable.to_owned(), url.clone()));
        }
        let named = |flag: &[String], name: &str| -> Result<bool, CliError> {
            let named = flag
                .iter()
                .map(|given| Ok(pair(given, "--endpoint-key", "MODEL=VARIABLE")?.0 == name));
            Ok(named.collect::<Result<Vec<bool>, CliError>>()?.contains(&true))
        };
        for (name, endpoint) in endpoints {
            let KeyVariable::Named(variable) = &endpoint.key else { continue };
            if is_typed(variable) || named(&self.endpoint_keys, name)? {
                continue;
            }
            let url = match &endpoint.base_url {
                BaseUrl::Named(url) => url.clone(),
                BaseUrl::BuiltIn => own_url(endpoint.kind),
                BaseUrl::Recorded(_) => continue,
            };
            all.push((variable.clone(), url));
        }
        Ok(all)
    }
}

/// A pair as it is remembered.
fn line(variable: &str, server: &str) -> String {
    format!("{variable} {server}")
}

/// The file in the user's folder for settings with the pairs that were trusted.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn memory() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")))?;
    Some(folder.join("retold/trusted"))
}

fn trusted_pairs() -> BTreeSet<String> {
    let text = memory().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Adds a pair. Without a folder for settings, it holds for this command alone.
fn remember(variable: &str, server: &str) -> Result<(), CliError> {
    let Some(file) = memory() else { return Ok(()) };
    let add = || {
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let mut open = std::fs::File::options().append(true).create(true).open(&file)?;
        open.write_all(format!("{}\n", line(variable, server)).as_bytes())
    };
    add().map_err(|error: std::io::Error| {
        let message = format!("cannot remember it in {}: {error}", file.display());
        CliError::new(Status::Io, message).hint("XDG_CONFIG_HOME names another place")
    })
}
