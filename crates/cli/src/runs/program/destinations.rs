//! Where the requests of a program go.

use super::args::InterceptArgs;
use super::environment;
use crate::again::words;
use crate::error::CliError;
use retold::id::RunId;
use retold_wire::{NamedHosts, Settings, Upstreams, clients};

/// Where requests go: to servers by name, to hosts that a program has written into it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Destinations {
    pub(crate) upstreams: Vec<String>,
    pub(crate) intercept: InterceptArgs,
}

impl Destinations {
    /// The options that name them, to be typed again. A URL that may hold a secret is left to the user.
    pub(super) fn again(&self) -> Vec<String> {
        let Destinations { upstreams, intercept: InterceptArgs { intercept, hosts, watch } } = self;
        let shown = |given: &String| match given.split_once('=') {
            Some((name, url)) if url.contains(['@', '?']) => format!("{name}=URL"),
            _ => given.clone(),
        };
        let option = |name: &str, given: &String| [name.to_owned(), shown(given)];
        let mut again: Vec<String> =
            upstreams.iter().flat_map(|given| option("--upstream", given)).collect();
        if *intercept {
            again.push("--intercept".to_owned());
            again.extend(hosts.iter().flat_map(|given| option("--host", given)));
        }
        if *watch {
            again.push("--watch".to_owned());
        }
        again
    }

    /// Those of a recorded run, as far as it names them: never where their requests go.
    pub(super) fn recorded(settings: &Settings) -> Self {
        let others = settings.upstreams.iter().filter(|name| !clients::has_default(name));
        let upstreams = others.map(|name| format!("{name}=URL")).collect();
        let hosts = settings.intercept.clone();
        let intercept = InterceptArgs {
            intercept: hosts.is_some(),
            hosts: hosts.unwrap_or_default(),
            watch: false,
        };
        Destinations { upstreams, intercept }
    }

    /// Refuses destinations without which a program would ask some of its servers by itself, unseen.
    pub(super) fn cover(
        &self,
        run: RunId,
        settings: &Settings,
        named: &Named,
    ) -> Result<(), CliError> {
        let is_named = |name: &&String| !named.names.contains(name);
        let missing: Vec<String> = settings.upstreams.iter().filter(is_named).cloned().collect();
        if let Some(first) = missing.first() {
            let message = format!(
                "run {run} was recorded with upstreams that are not named now: {}",
                missing.join(", ")
            );
            return Err(CliError::usage(message).hint(format!(
                "name each of them, as in --upstream {first}=URL: where requests go is never taken from a run"
            )));
        }
        if settings.intercept.is_some() && !self.intercept.intercept {
            let again = Destinations::recorded(settings).again();
            let again = words(&again).unwrap_or_else(|| "--intercept".to_owned());
            let message = format!(
                "run {run} was recorded with --intercept, without which its program asks real servers unseen"
            );
            return Err(CliError::usage(message).hint(format!("give the options again: {again}")));
        }
        Ok(())
    }
}

/// What the user named.
pub(super) struct Named {
    pub(super) upstreams: Upstreams,
    pub(super) names: Vec<String>,
    /// The hosts whose connections are opened; `None` if none are.
    pub(super) hosts: Option<NamedHosts>,
}

/// The upstreams, their names, and the hosts among them.
pub(super) fn named(destinations: &Destinations) -> Result<Named, CliError> {
    let Destinations { upstreams, intercept } = destinations;
    let mut named = environment::upstreams(upstreams)?;
    let names = named.keys().cloned().collect();
    if !intercept.intercept {
        return Ok(Named { upstreams: Upstreams::new(&named)?, names, hosts: None });
    }
    let (hosts, urls) = environment::hosts(&intercept.hosts)?;
    named.extend(urls);
    let upstreams = Upstreams::new(&named)?.with_known_hosts();
    Ok(Named { upstreams, names, hosts: Some(hosts) })
}
