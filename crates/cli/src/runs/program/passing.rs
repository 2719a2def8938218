//! Requests of a program to other servers than its upstreams: whether they come through us, and the report about them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;

use serde_json::{Value, json};

use super::environment::variable;
use crate::error::write_err;
use crate::global::Global;
use crate::output::count_of;
use retold::model::providers::is_known_host;
use retold_wire::{ConnectionReport, NamedHosts, ProgramSettings, http, not_hiding};

/// The variables that name a proxy for connections with TLS.
const SECURE: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];

/// Those for requests without it.
const PLAIN: [&str; 2] = ["HTTP_PROXY", "http_proxy"];

/// Those for all others.
const ANY: [&str; 2] = ["ALL_PROXY", "all_proxy"];

/// Those that name the hosts which need none.
const NONE: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// This machine, whose servers are reached directly: some HTTP clients send even requests to it
/// through a proxy.
const LOOPBACK: &str = "127.0.0.1,localhost";

/// Whether a program has us as its proxy.
pub(super) struct ProxyUse {
    /// For hosts whose connections are opened.
    pub(super) intercepts: bool,
    /// For all, to count what goes past us.
    pub(super) watches: bool,
    /// Hosts that count as models, besides those of known providers.
    pub(super) hosts: NamedHosts,
}

impl ProxyUse {
    /// The variables that are set for the program; `proxy` is our address as a proxy.
    pub(super) fn variables(&self, proxy: &str) -> Vec<(String, OsString)> {
        let mut all: Vec<(String, OsString)> = Vec::new();
        let is_proxy = self.intercepts || self.watches;
        let secure = SECURE.iter().filter(|_| is_proxy);
        let plain = PLAIN.iter().filter(|_| self.watches);
        all.extend(secure.chain(plain).map(|name| ((*name).to_owned(), proxy.into())));
        if is_proxy {
            // From Node 24 on, its own clients read these variables if they are asked to.
            all.push(("NODE_USE_ENV_PROXY".to_owned(), "1".into()));
        }
        let mut hiding = BTreeSet::new();
        for name in NONE {
            // Clients look for one of the two first, and not all for the same.
            let given = variable(name).or_else(|| NONE.iter().find_map(|name| variable(name)));
            let given = given.unwrap_or_default();
            let (mut kept, left) = match is_proxy {
                true => not_hiding(&given, &self.hosts),
                false => (Vec::from_iter((!given.is_empty()).then_some(given)), Vec::new()),
            };
            hiding.extend(left);
            kept.push(LOOPBACK.to_owned());
            all.push((name.to_owned(), kept.join(",").into()));
        }
        if !hiding.is_empty() {
            let hiding = hiding.into_iter().collect::<Vec<_>>().join(", ");
            write_err(&format!(
                "retold: NO_PROXY of the program is without {hiding}: it would hide requests to models\n"
            ));
        }
        all
    }
}

/// Whether connections can be passed on as the environment says; if not, says that nothing is
/// watched, and why.
pub(super) fn can_pass_on() -> bool {
    let is_usable = |name: &&&str| {
        let uri = variable(name).map(|value| value.parse::<http::Uri>());
        uri.is_none_or(|uri| {
            uri.is_ok_and(|uri| {
                uri.authority().is_some() && matches!(uri.scheme_str(), None | Some("http"))
            })
        })
    };
    let names = SECURE.iter().chain(&PLAIN).chain(&ANY);
    let Some(name) = names.into_iter().find(|name| !is_usable(name)) else { return true };
    // The value may hold a password.
    write_err(&format!(
        "warning: --watch is off: {name} does not name a proxy that begins with http://, and retold can pass \
         connections on through no other\n"
    ));
    false
}

/// The hosts that a run is known to have asked, but for this machine, which has other servers too.
pub(super) fn recorded_hosts(settings: &ProgramSettings) -> NamedHosts {
    let imported = settings.imported.iter().flat_map(|imported| imported.urls.values());
    let of_urls = imported
        .chain(settings.urls.values())
        .filter_map(|url| Some(url.parse::<http::Uri>().ok()?.host()?.to_ascii_lowercase()));
    let names = settings.upstreams.iter().filter(|name| name.contains('.')).cloned();
    let others = names.chain(of_urls).filter(|host| !LOOPBACK.split(',').any(|it| it == host));
    others.map(|host| (host, true)).collect()
}

/// What became of connections that were not recorded, as JSON.
pub(super) fn object(reported: &ConnectionReport) -> Value {
    let ConnectionReport { distrusted, refused, passed, unreached } = reported;
    json!({"distrusted": distrusted, "not_recorded": passed, "refused": refused, "unreached": unreached})
}

/// Says what became of connections that were not recorded.
pub(super) fn say(reported: &ConnectionReport, intercepts: bool, global: &Global) {
    let ConnectionReport { distrusted, refused, passed, unreached } = reported;
    if !distrusted.is_empty() {
        let distrusted = distrusted.iter().cloned().collect::<Vec<_>>().join(", ");
        write_err(&format!(
            "warning: the program did not trust retold's certificate for {distrusted}: its client reads none of \
             SSL_CERT_FILE, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE and NODE_EXTRA_CA_CERTS\n",
        ));
    }
    if global.json {
        return;
    }
    let mut text =
        if intercepts { intercept_lines(refused, passed) } else { watch_lines(refused, passed) };
    text.push_str(&out_of_reach(unreached));
    // A connection that a replay refuses is a difference.
    if !global.quiet || (!intercepts && !refused.is_empty()) {
        write_err(&text);
    }
}

/// Hosts, by how often.
type Hosts = BTreeMap<String, u64>;

fn intercept_lines(refused: &Hosts, passed: &Hosts) -> String {
    let listed = |hosts: &Hosts| hosts.keys().cloned().collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    // Writing to a string cannot fail.
    if !refused.is_empty() {
        let _ = writeln!(text, "not recorded, so refused: {}", listed(refused));
    }
    if !passed.is_empty() {
        let _ = writeln!(
            text,
            "not recorded: {}\n  --host NAME records the requests to one of these hosts, --host NAME=URL at another port",
            listed(passed)
        );
    }
    text
}

/// One line for each host that could not be reached.
fn out_of_reach(unreached: &Hosts) -> String {
    let line = |(host, n): (&String, &u64)| {
        let what = if host.starts_with("http://") { "request" } else { "connection" };
        let was = if *n == 1 { "was" } else { "were" };
        format!(
            "{} to {host} {was} not recorded: the host could not be reached\n",
            count_of(*n, what)
        )
    };
    unreached.iter().map(line).collect()
}

/// One line for each host. More connections than these may have gone past us, and one connection may have
/// carried many requests.
fn watch_lines(refused: &Hosts, passed: &Hosts) -> String {
    let mut text = String::new();
    for (host, n) in passed {
        // Writing to a string cannot fail.
        let _ = match host.strip_prefix("http://") {
            Some(_) => writeln!(
                text,
                "{n} or more requests to {host} were not recorded: --upstream NAME={host} records them, if the \
                 program takes its base URL from $NAME_BASE_URL"
            ),
            None if is_known_host(host) => writeln!(
                text,
                "{n} or more connections to {host} were not recorded: --intercept records them"
            ),
            None => {
                // A host alone means the usual port.
                let named = match host.split_once(':') {
                    Some((name, _)) => format!("{name}=https://{host}"),
                    None => host.clone(),
                };
                writeln!(
                    text,
                    "{n} or more connections to {host} were not recorded: --intercept --host {named} records them"
                )
            }
        };
    }
    for (host, n) in refused {
        let what = if host.starts_with("http://") { "requests" } else { "connections" };
        let _ = writeln!(text, "{n} or more {what} to {host} were not recorded, so refused");
    }
    text
}
