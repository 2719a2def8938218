//! Where the requests of a program go.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use super::args::{InterceptArgs, ProgramProcess};
use super::{authorities, environment, keys, next};
use crate::again::words;
use crate::error::CliError;
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::Log;
use retold::model::{NamedUrl, providers};
use retold_wire::{NamedHosts, ProgramSettings, Upstreams, upstreams_asked};

/// Where requests go: to servers by name, to hosts that a program has written into it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Destinations {
    pub(crate) upstreams: Vec<String>,
    pub(crate) intercept: InterceptArgs,
}

/// The servers that are asked, and no others.
pub(super) struct ProgramDestinations {
    pub(super) upstreams: Upstreams,
    pub(super) names: Vec<String>,
    /// The hosts whose connections are opened; `None` if none are.
    pub(super) hosts: Option<NamedHosts>,
    /// Where the requests of each go, as it may be recorded and shown.
    pub(super) urls: BTreeMap<String, String>,
}

impl Destinations {
    /// The servers that a new run asks: those that the user names, and the providers' own for all others.
    pub(super) fn of_new_run(&self) -> Result<ProgramDestinations, CliError> {
        let mut named = environment::upstreams(&self.upstreams)?;
        named.extend(self.defaults(&named)?);
        self.with_hosts(named)
    }

    /// The servers that a resume or a fork asks: those that the user names now, and a provider's own if the run has
    /// asked it.
    ///
    /// # Errors
    /// [`UnnamedServers`] if the run has asked others: nothing in a run chooses a server.
    pub(super) fn of_more(
        &self,
        log: &Log,
        run: RunId,
        settings: &ProgramSettings,
        process: ProgramProcess,
    ) -> Result<Result<ProgramDestinations, UnnamedServers>, CliError> {
        let mut named = environment::upstreams(&self.upstreams)?;
        let mut own = self.defaults(&named)?;
        let asked = upstreams_asked(log, run)?;
        let mut missing = Vec::new();
        for name in &settings.upstreams {
            let led_to = settings.led_to(name);
            match own.remove(name) {
                _ if named.contains_key(name) => {}
                Some(url) if led_to == Some(url.as_str()) => {
                    // A server that the run has not asked is refused when it is asked.
                    if asked.contains(name) {
                        named.insert(name.clone(), url);
                    }
                }
                // An import need not say where requests went: upstreams that were asked have to be named.
                _ if led_to.is_none()
                    && providers::default_url(name).is_some()
                    && !asked.contains(name) => {}
                _ => missing.push(name.clone()),
            }
        }
        let mut found = self.with_hosts(named)?;
        let hosts = settings.intercept.as_ref();
        let is_open = |name: &String| found.hosts.as_ref().is_some_and(|it| it.contains_key(name));
        let unopened = match hosts {
            None => false,
            Some(hosts) => found.hosts.is_none() || !hosts.iter().all(is_open),
        };
        // The transport of a program that started us names the server of each request.
        if missing.is_empty() && !unopened || process == ProgramProcess::Parent {
            return Ok(Ok(found));
        }
        // To be shown.
        for name in missing.iter().chain(hosts.into_iter().flatten()) {
            let led_to = settings.led_to(name).map(str::to_owned);
            let led_to = led_to.or_else(|| missing.contains(name).then(|| next::URL.to_owned()));
            if let (Some(url), false) = (led_to, found.urls.contains_key(name)) {
                found.urls.insert(name.clone(), url);
            }
        }
        let mut opened: BTreeSet<String> = hosts.into_iter().flatten().cloned().collect();
        opened.extend(found.hosts.iter().flat_map(|hosts| hosts.keys().cloned()));
        let intercept =
            (hosts.is_some() || found.hosts.is_some()).then(|| opened.into_iter().collect());
        Ok(Err(UnnamedServers { missing, urls: found.urls, intercept }))
    }

    /// The providers' own servers, or those that the user has named for their hosts.
    fn defaults(
        &self,
        named: &BTreeMap<String, NamedUrl>,
    ) -> Result<BTreeMap<String, NamedUrl>, CliError> {
        let (_, urls) = environment::hosts(&self.intercept.hosts)?;
        Ok(environment::defaults(named, &urls))
    }

    /// These upstreams, and the hosts whose connections are opened.
    fn with_hosts(
        &self,
        mut named: BTreeMap<String, NamedUrl>,
    ) -> Result<ProgramDestinations, CliError> {
        let names = named.keys().cloned().collect();
        let InterceptArgs { intercept, hosts, watch: _ } = &self.intercept;
        let hosts = match intercept {
            true => {
                let (hosts, urls) = environment::hosts(hosts)?;
                named.extend(urls);
                Some(hosts)
            }
            false => None,
        };
        let urls = named.iter().map(|(name, url)| (name.clone(), keys::url_without_keys(url)));
        let urls = urls.collect();
        let upstreams = Upstreams::trusting(&named, &authorities::named_files())?;
        let upstreams = if hosts.is_some() { upstreams.with_known_hosts() } else { upstreams };
        Ok(ProgramDestinations { upstreams, names, hosts, urls })
    }
}

/// Servers that a run has asked, and that nobody has named now.
pub(super) struct UnnamedServers {
    /// The upstreams; empty if it is hosts alone.
    missing: Vec<String>,
    /// Where requests would go, and went, as it may be shown.
    urls: BTreeMap<String, String>,
    intercept: Option<Vec<String>>,
}

impl UnnamedServers {
    /// The error that names them, with the command in which the user names them. `flags` are the other
    /// options of this command, and `command` is the program's, without keys.
    pub(super) fn error(
        self,
        verb: &str,
        run: RunId,
        settings: &ProgramSettings,
        flags: &[String],
        command: &[OsString],
    ) -> CliError {
        let UnnamedServers { missing, urls, intercept } = self;
        let message = match missing.is_empty() {
            true => format!(
                "run {run} was recorded with --intercept and hosts that are not named now: its program would ask them unseen"
            ),
            false => {
                let missing: Vec<_> = missing.iter().map(|name| printable(name, 100)).collect();
                let missing = missing.join(", ");
                format!("run {run} was recorded with upstreams that are not named now: {missing}")
            }
        };
        let command = keys::without_keys(command);
        let is_another = command != settings.command && !settings.command.is_empty();
        let now = ProgramSettings { command, urls, intercept, ..settings.clone() };
        let error = CliError::usage(message)
            .hint("recordings can come from anyone, so they never decide where prompts and your key are sent")
            .hint(format!("if you trust these servers: `retold {}`", next::with(verb, run, flags, &now)));
        match words(&settings.command).filter(|_| is_another) {
            Some(recorded) => error.hint(format!("the recorded command was: {recorded}")),
            None => error,
        }
    }
}
