//! The environment of a program: where its requests go, and where it is told that they go.

use std::collections::BTreeMap;
use std::ffi::OsString;

use crate::error::CliError;
use retold::model::NamedUrl;
use retold_wire::Server;
use retold_wire::clients::{self, AZURE, CLIENTS, Client, NO_KEY, OURS};

/// The upstreams that the user names: in flags, in the variables that SDKs read, or by leaving both
/// to the SDKs' own defaults.
pub(super) fn upstreams(given: &[String]) -> Result<BTreeMap<String, NamedUrl>, CliError> {
    let mut named = BTreeMap::new();
    let azure = CLIENTS.iter().filter(|client| client.upstream == AZURE).any(is_set);
    for client in CLIENTS {
        // Clients for Azure refuse a second base URL.
        if azure && client.upstream == "openai" && !is_set(client) {
            continue;
        }
        let set = client.variables.iter().find_map(|name| variable(name));
        let set = set.map(|value| clients::base_url(client.upstream, &value));
        if let Some(url) = set.or(client.default.map(str::to_owned)) {
            named.insert(client.upstream.to_owned(), NamedUrl::given(url));
        }
    }
    named.extend(only(given)?);
    Ok(named)
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
        named.insert(name.to_owned(), NamedUrl::given(clients::base_url(name, url)));
    }
    Ok(named)
}

fn is_set(client: &Client) -> bool {
    client.variables.iter().any(|name| variable(name).is_some())
}

/// A variable of our own environment, if it is not empty.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// What is set for the program.
pub(super) fn of_program(
    server: &Server,
    upstreams: &[String],
    replay: bool,
) -> Vec<(String, OsString)> {
    let mut all: Vec<(String, OsString)> = Vec::new();
    for upstream in upstreams {
        let url = server.url(upstream);
        match clients::of(upstream) {
            Some(client) => {
                all.extend(
                    client.variables.iter().map(|name| ((*name).to_owned(), url.clone().into())),
                );
                // Many SDKs do not start without a key.
                if replay
                    && let Some(first) = client.keys.first()
                    && !client.keys.iter().any(|name| variable(name).is_some())
                {
                    all.push(((*first).to_owned(), NO_KEY.into()));
                }
            }
            None => all.push((clients::variable(upstream), url.into())),
        }
    }
    all.push((OURS.to_owned(), format!("http://{}", server.address()).into()));
    // Some HTTP clients send even requests to this machine through a proxy.
    for name in ["NO_PROXY", "no_proxy"] {
        let before = variable(name).map_or_else(String::new, |before| format!("{before},"));
        all.push((name.to_owned(), format!("{before}127.0.0.1,localhost").into()));
    }
    all
}

/// A command as it is recorded: the values of variables that hold keys are left out.
pub(super) fn without_keys(command: &[OsString]) -> Vec<String> {
    const SHORTEST: usize = 8;
    let is_a_key = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.ends_with(word))
    };
    let keys = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_a_key));
    let keys = keys.filter_map(|(_, value)| value.into_string().ok());
    let keys: Vec<String> = keys.filter(|value| value.len() >= SHORTEST).collect();
    let shown = |word: &OsString| {
        let word = word.to_string_lossy().into_owned();
        keys.iter().fold(word, |word, key| word.replace(key, "[key]"))
    };
    command.iter().map(shown).collect()
}
