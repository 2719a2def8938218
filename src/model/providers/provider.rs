//! Who serves an API: a provider's name, its address, and what its SDKs read from the environment.

use std::borrow::Cow;

/// A provider, as far as addresses, keys and the environment concern it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// The name of its upstream.
    pub name: &'static str,
    /// The variables in which its SDKs look for the base URL; the first one that is set counts.
    pub variables: &'static [&'static str],
    /// The base URL without them; `None` if there is no single one, so that a variable is set only if it was.
    pub default: Option<&'static str>,
    /// The port of a base URL that is given as a host alone, or as a host and a port; `None` if it is always a URL.
    pub port: Option<u16>,
    /// Where `/v1` belongs, if readers of the variables disagree.
    pub version: VersionPlace,
    /// The variables that hold the key: one of them must be set, or some SDKs do not start.
    pub keys: &'static [&'static str],
    /// The provider whose base URL its SDKs refuse next to their own.
    pub refuses: Option<&'static str>,
    /// Where else other tools have recorded its requests.
    pub recorded_at: &'static [RecordedBase],
}

/// A base URL in recordings of other tools, besides the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedBase {
    /// The host, which may have a scheme before it and a port after it; `*` stands for any text that is not empty.
    pub host: &'static str,
    /// The path.
    pub path: &'static str,
}

/// Where the `/v1` of an API is looked for. Where readers of one variable disagree, a request reaches the same
/// place with it and without it: under one path, which is recorded, below one base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionPlace {
    /// All known readers agree: nothing is changed.
    AsGiven,
    /// At the end of the base URL: a path that begins with it is taken without it.
    InBase,
    /// At the beginning of the path: a path that begins with one of these gets it.
    InPath(&'static [&'static str]),
}

/// The version that base URLs end with, or paths begin with.
const V1: &str = "/v1";

impl Provider {
    /// A provider of whose SDKs nothing is known.
    pub(super) const fn new(name: &'static str) -> Self {
        Provider {
            name,
            variables: &[],
            default: None,
            port: None,
            version: VersionPlace::AsGiven,
            keys: &[],
            refuses: None,
            recorded_at: &[],
        }
    }

    /// The hosts at which it is asked, as far as they are the provider's and not machines of one's own; `*` stands for
    /// any text that is not empty.
    pub fn hosts(&self) -> impl Iterator<Item = &'static str> {
        let own = ["127.0.0.1", "localhost"];
        let recorded = self.recorded_at.iter().map(|base| host_of(base.host));
        let all = self.default.map(host_of).into_iter().chain(recorded);
        all.filter(move |host| !own.contains(host))
    }

    /// Whether a host is one at which it is asked.
    pub fn is_at(&self, host: &str) -> bool {
        self.hosts().any(|known| is_one_of(&[known], host))
    }

    /// The base URL that a value of one of its variables stands for, with `/v1` in its [place](VersionPlace).
    pub fn base_url(&self, value: &str) -> String {
        let value = trim_url(value);
        if let Some(port) = self.port.filter(|_| !value.contains("://")) {
            return url_of_host(value, port);
        }
        let (base, query) = match value.find('?') {
            Some(at) => value.split_at(at),
            None => (value, ""),
        };
        let base = base.trim_end_matches('/');
        match (self.version, base.strip_suffix(V1)) {
            (VersionPlace::InPath(_), Some(without)) => format!("{without}{query}"),
            (VersionPlace::InBase, None) => format!("{base}{V1}{query}"),
            _ => value.to_owned(),
        }
    }

    /// The path below its base URL, as it is asked and recorded whatever its client takes the base URL for.
    pub fn path<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let first = |path: &'a str| path.strip_prefix('/')?.split('/').next();
        let without = path.strip_prefix(V1).filter(|rest| rest.starts_with('/'));
        match (self.version, without) {
            (VersionPlace::InBase, Some(without)) => without.into(),
            (VersionPlace::InPath(parts), None)
                if first(path).is_some_and(|first| parts.contains(&first)) =>
            {
                format!("{V1}{path}").into()
            }
            _ => path.into(),
        }
    }
}

impl RecordedBase {
    /// Whether a request went to this host. The origin is the scheme, the host and the port.
    pub fn is_at(&self, origin: &str) -> bool {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        is_one_of(&[self.host], host) || is_one_of(&[self.host], origin)
    }
}

/// A base URL as it is given, without spaces around it and slashes after it.
pub(super) fn trim_url(value: &str) -> &str {
    value.trim().trim_end_matches('/')
}

fn url_of_host(value: &str, port: u16) -> String {
    let port = port.to_string();
    let (host, port) = match value.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => (host, port),
        _ => (value, port.as_str()),
    };
    // A server listens on all addresses, a client asks one.
    let host = if host.is_empty() || host == "0.0.0.0" { "127.0.0.1" } else { host };
    format!("http://{host}:{port}")
}

/// The host of an origin or a URL, without its port.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or(rest)
}

/// Whether a host is one of these, in which `*` stands for any text that is not empty.
pub(super) fn is_one_of(hosts: &[&str], host: &str) -> bool {
    hosts.iter().any(|known| match known.split_once('*') {
        None => *known == host,
        Some((begin, end)) => {
            let middle = host.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
            middle.is_some_and(|middle| !middle.is_empty())
        }
    })
}
