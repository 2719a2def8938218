//! The environment of a program: where its requests go, and where it is told that they go.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::error::CliError;
use retold::model::NamedUrl;
use retold::model::providers::{self, Provider, providers};
use retold_wire::{NO_KEY, NamedHosts, OURS, Secret, Upstreams, http};

/// The changes to the environment of a program.
#[derive(Debug, Clone, Default)]
pub(super) struct EnvironmentChanges {
    pub(super) set: Vec<(String, OsString)>,
    pub(super) unset: Vec<String>,
}

/// The upstreams that the user names: in flags, or in the variables that SDKs read.
pub(super) fn upstreams(given: &[String]) -> Result<BTreeMap<String, NamedUrl>, CliError> {
    let set = providers().filter_map(|provider| {
        let value = provider.variables.iter().find_map(|name| variable(name))?;
        let url = provider.base_url(&value);
        Some((provider.name.to_owned(), NamedUrl::from_user(url)))
    });
    let mut named: BTreeMap<_, _> = set.collect();
    named.extend(only(given)?);
    Ok(named)
}

/// The providers' own servers, which SDKs ask if no other is named, or the servers named for their hosts: an SDK that
/// reads its variable asks the same server as one that has the host written into it.
pub(super) fn defaults(
    named: &BTreeMap<String, NamedUrl>,
    hosts: &BTreeMap<String, NamedUrl>,
) -> BTreeMap<String, NamedUrl> {
    let others = providers()
        .filter(|it| !named.contains_key(it.name))
        .filter(|it| !is_refused(it, |other| named.contains_key(other)));
    let led = |own: &str| {
        let own: http::Uri = own.parse().ok()?;
        let base = hosts.get(own.host()?)?.as_str().trim_end_matches('/');
        Some(format!("{base}{}", own.path().trim_end_matches('/')))
    };
    let own = |it: &Provider| {
        let own = it.default?;
        Some((it.name.to_owned(), NamedUrl::from_user(led(own).unwrap_or_else(|| own.to_owned()))))
    };
    others.filter_map(own).collect()
}

/// The upstreams whose variables name retold: some, and those of all other SDKs that we know, so that
/// what else a program asks is refused here and asked nowhere. Variables that have no default, or next
/// to which clients refuse another, are removed.
pub(super) fn upstreams_to_serve(some: &[String]) -> (Vec<String>, Vec<String>) {
    let is_recorded = |name: &str| some.iter().any(|one| one == name);
    let (mut served, mut unset) = (some.to_vec(), Vec::new());
    for provider in providers().filter(|provider| !is_recorded(provider.name)) {
        match is_refused(provider, is_recorded) || provider.default.is_none() {
            true => unset.extend(provider.variables.iter().map(|name| (*name).to_owned())),
            false => served.push(provider.name.to_owned()),
        }
    }
    (served, unset)
}

/// Whether the SDKs of another provider, of those that are asked, refuse this one's base URL next to their own.
fn is_refused(provider: &Provider, is_asked: impl Fn(&str) -> bool) -> bool {
    providers().any(|other| other.refuses == Some(provider.name) && is_asked(other.name))
}

/// The upstreams that are given as NAME=URL.
pub(super) fn only(given: &[String]) -> Result<BTreeMap<String, NamedUrl>, CliError> {
    let mut named = BTreeMap::new();
    for upstream in given {
        let wrong = || {
            CliError::usage(
                "--upstream is given as NAME=URL, as in openai=https://api.openai.com/v1",
            )
        };
        let (name, url) = upstream.split_once('=').ok_or_else(wrong)?;
        named.insert(name.to_owned(), NamedUrl::from_user(providers::base_url(name, url)));
    }
    Ok(named)
}

/// The hosts that are given as NAME or NAME=URL: which of them are at any port, and where their
/// requests go.
pub(super) fn hosts(
    given: &[String],
) -> Result<(NamedHosts, BTreeMap<String, NamedUrl>), CliError> {
    let (mut hosts, mut urls) = (NamedHosts::new(), BTreeMap::new());
    for host in given {
        let (name, url) = match host.split_once('=') {
            Some((name, url)) => (name, Some(url)),
            None => (host.as_str(), None),
        };
        let name = name.to_ascii_lowercase();
        hosts.insert(name.clone(), url.is_some());
        let url = url.map_or_else(|| format!("https://{name}"), str::to_owned);
        urls.insert(name, NamedUrl::from_user(url));
    }
    // They are checked here also for a replay, which asks nobody.
    Upstreams::new(&urls)?;
    if let Some(name) = urls.keys().find(|name| !name.contains('.')) {
        let message = format!("--host {name:?} is not the name of a host");
        return Err(CliError::usage(message).hint("write it as in --host api.example.com"));
    }
    Ok((hosts, urls))
}

/// A variable of our own environment, if it is not empty.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The folders in which programs are looked for.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn search_path() -> impl Iterator<Item = PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&folders).collect::<Vec<_>>().into_iter()
}

/// The variables that are set for the program.
pub(super) fn of_program(
    server: SocketAddr,
    secret: &Secret,
    upstreams: &[String],
    replay: bool,
) -> Vec<(String, OsString)> {
    let mut all: Vec<(String, OsString)> = Vec::new();
    let ours = secret.base_url(server);
    for upstream in upstreams {
        let url = format!("{ours}/{upstream}");
        match providers::provider(upstream) {
            Some(provider) => {
                all.extend(
                    provider.variables.iter().map(|name| ((*name).to_owned(), url.clone().into())),
                );
                // Many SDKs do not start without a key.
                if replay
                    && let Some(first) = provider.keys.first()
                    && !provider.keys.iter().any(|name| variable(name).is_some())
                {
                    all.push(((*first).to_owned(), NO_KEY.into()));
                }
            }
            None => all.push((providers::variable(upstream).into_owned(), url.into())),
        }
    }
    all.push((OURS.to_owned(), ours.into()));
    if replay {
        // No region of AWS: one in a file of the user's would count less.
        let unset = providers::KEYS.into_iter().filter(|name| variable(name).is_none());
        all.extend(unset.map(|name| (name.to_owned(), NO_KEY.into())));
    }
    all
}
