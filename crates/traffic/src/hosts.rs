//! Where requests went: from URLs to the upstreams of a run, and back.

use std::borrow::Cow;
use std::collections::BTreeMap;

use retold::model::providers;

use crate::error::FileProblem;

/// The longest host, of which the name of an upstream is made (RFC 1035, 2.3.4), and its port.
const LONGEST_HOST: usize = 253 + ":65535".len();

/// A URL, taken apart as it is written: a path has to be the one that a client sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UrlParts {
    /// The scheme, host and port, without the port that the scheme has anyway.
    pub(crate) origin: String,
    host: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
}

impl UrlParts {
    /// Takes a URL apart; its user name and password are left out.
    ///
    /// # Errors
    /// [`FileProblem::Value`].
    pub(crate) fn parse(url: &str) -> Result<Self, FileProblem> {
        let wrong = || {
            // Neither a password nor a key in the query.
            let shown = url.rsplit('@').next().and_then(|rest| rest.split('?').next());
            let shown = shown.unwrap_or("").chars().take(80).collect();
            FileProblem::Value { what: "an http or https URL", found: shown }
        };
        let url = &*name_placeholders(url);
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let scheme = scheme.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => return Err(wrong()),
        };
        let rest = rest.split('#').next().unwrap_or("");
        let (authority, rest) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let host = authority.rsplit('@').next().unwrap_or("").to_ascii_lowercase();
        let host = host.strip_suffix(usual).unwrap_or(&host).to_owned();
        let fits = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if host.is_empty() || host.len() > LONGEST_HOST || !host.chars().all(fits) {
            return Err(wrong());
        }
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(encode(query))),
            None => (rest, None),
        };
        let path = if path.is_empty() { "/".to_owned() } else { encode(path) };
        let query = query.filter(|query| !query.is_empty());
        Ok(UrlParts { origin: format!("{scheme}://{host}"), host, path, query })
    }
}

/// A URL with the placeholders of its host as names: VCR's `filter_sensitive_data` writes `https://<API_HOST>/v1`, and
/// `<API_URL>/v1` for more than a host.
fn name_placeholders(url: &str) -> Cow<'_, str> {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let Some(open) = url.get(begin..).and_then(|rest| rest.find('<')).map(|at| begin + at) else {
        return url.into();
    };
    let is_in_host = !url.get(begin..open).is_some_and(|before| before.contains(['/', '?']));
    let close = url.get(open..).and_then(|rest| rest.find('>')).map(|at| open + at);
    let Some(close) = close.filter(|_| is_in_host) else { return url.into() };
    let (before, name) = (url.get(..open).unwrap_or(""), url.get(open + 1..close).unwrap_or(""));
    let fit = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().map(fit).collect();
    let scheme = if begin == 0 { "https://" } else { "" };
    let after = url.get(close + 1..).unwrap_or("");
    format!("{scheme}{before}{}{after}", name.trim_matches('-')).into()
}

/// What cannot be in a request line, encoded as clients do it.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The upstreams of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts {
    /// The base URL of each upstream that the user named.
    given: Vec<(String, UrlParts)>,
    /// The base URL of each upstream that is used.
    used: BTreeMap<String, String>,
}

impl Hosts {
    /// Upstreams with the names that the user gives them.
    ///
    /// # Errors
    /// [`FileProblem::Value`] for one that is not a URL.
    pub(crate) fn new(named: &BTreeMap<String, String>) -> Result<Self, FileProblem> {
        let parts = |(name, url): (&String, &String)| {
            Ok((name.clone(), UrlParts::parse(&providers::base_url(name, url))?))
        };
        let given = named.iter().map(parts);
        Ok(Hosts { given: given.collect::<Result<_, FileProblem>>()?, used: BTreeMap::new() })
    }

    /// The upstream of a request, and its path below that.
    pub(crate) fn place(&mut self, parts: &UrlParts) -> (String, String) {
        let (name, base) = self.upstream(parts);
        let below = below(parts, &base).unwrap_or(&parts.path).to_owned();
        let url = format!("{}{}", base.origin, base.path.trim_end_matches('/'));
        self.used.insert(name.clone(), url);
        (name, below)
    }

    /// Notes an upstream that is known by its name alone.
    pub(crate) fn name(&mut self, upstream: &str) {
        self.used.entry(upstream.to_owned()).or_default();
    }

    /// The base URL of each upstream; empty if it is known by its name alone.
    pub(crate) fn urls(&self) -> &BTreeMap<String, String> {
        &self.used
    }

    /// A URL within one of the upstreams, as a path of the server that replays it.
    pub(crate) fn within(&mut self, parts: &UrlParts) -> Option<String> {
        let (name, base) = self.upstream(parts);
        if !self.used.contains_key(&name) {
            return None;
        }
        let below = below(parts, &base)?;
        let query = parts.query.as_ref().map_or_else(String::new, |query| format!("?{query}"));
        Some(format!("/{name}{below}{query}"))
    }

    fn upstream(&self, parts: &UrlParts) -> (String, UrlParts) {
        let fits = |(_, base): &&(String, UrlParts)| below(parts, base).is_some();
        if let Some((name, base)) = self.given.iter().find(fits) {
            return (name.clone(), base.clone());
        }
        let root = UrlParts { path: "/".to_owned(), query: None, ..parts.clone() };
        for provider in providers::providers() {
            let default = provider.default.and_then(|url| UrlParts::parse(url).ok());
            let recorded = provider.recorded_at.iter().filter(|base| base.is_at(&parts.origin));
            let recorded =
                recorded.map(|base| UrlParts { path: base.path.to_owned(), ..root.clone() });
            let is_it =
                |base: &UrlParts| below(parts, base).is_some() && self.is_free(provider.name, base);
            if let Some(base) = default.into_iter().chain(recorded).find(is_it) {
                return (provider.name.to_owned(), base);
            }
        }
        let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = parts.host.chars().map(fits).collect();
        let name = name.trim_matches('-').to_owned();
        let numbered = (2..100).map(|n| format!("{name}-{n}"));
        let free =
            std::iter::once(name.clone()).chain(numbered).find(|name| self.is_free(name, &root));
        (free.unwrap_or(name), root)
    }

    /// Whether a name is not that of another base URL.
    fn is_free(&self, name: &str, base: &UrlParts) -> bool {
        let url = format!("{}{}", base.origin, base.path.trim_end_matches('/'));
        let is_given = self.given.iter().any(|(given, _)| given == name);
        !is_given && self.used.get(name).is_none_or(|used| *used == url)
    }
}

/// The path below a base URL, if it is below it.
fn below<'a>(parts: &'a UrlParts, base: &UrlParts) -> Option<&'a str> {
    if parts.origin != base.origin {
        return None;
    }
    let rest = parts.path.strip_prefix(base.path.trim_end_matches('/'))?;
    rest.starts_with('/').then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(hosts: &mut Hosts, url: &str) -> (String, String) {
        hosts.place(&UrlParts::parse(url).unwrap())
    }

    #[test]
    fn a_placeholder_in_the_host_is_a_name() {
        let parts = |url: &str| {
            let parts = UrlParts::parse(url).unwrap();
            format!("{} {}", parts.origin, parts.path)
        };
        assert_eq!(parts("https://<API_HOST>/v1/chat"), "https://api_host /v1/chat");
        assert_eq!(parts("https://<ORG>.example.com:8443/v1"), "https://org.example.com:8443 /v1");
        assert_eq!(parts("<API_URL>/v1/chat"), "https://api_url /v1/chat");
        assert_eq!(parts("https://<%= ENV['HOST'] %>/v1"), "https://env--host /v1");
        assert_eq!(parts("https://h/<id>"), "https://h /%3Cid%3E");
        for wrong in ["https://<>/v1", "https://<a/v1", "<a", "https://a>b/"] {
            assert!(UrlParts::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn known_hosts_have_the_names_that_their_sdks_use() {
        let mut hosts = Hosts::default();
        for (url, name, path) in [
            ("https://api.openai.com/v1/chat/completions", "openai", "/chat/completions"),
            ("https://user:hunter2@api.openai.com:443/v1/models?x=y", "openai", "/models"),
            ("https://api.openai.com/dashboard", "api-openai-com", "/dashboard"),
            ("https://api.anthropic.com/v1/messages", "anthropic", "/v1/messages"),
            ("http://localhost:11434/api/chat", "ollama", "/api/chat"),
            ("https://one.openai.azure.com/openai/x", "azure", "/openai/x"),
            ("https://two.openai.azure.com/openai/x", "two-openai-azure-com", "/openai/x"),
            (
                "https://api.groq.com/openai/v1/chat/completions",
                "groq",
                "/openai/v1/chat/completions",
            ),
            ("https://api.cerebras.ai/v1/chat/completions", "cerebras", "/v1/chat/completions"),
            ("https://api.together.xyz/v1/chat/completions", "together", "/chat/completions"),
            ("https://api.together.ai/v1/models", "api-together-ai", "/v1/models"),
            ("http://localhost:8000", "localhost-8000", "/"),
            ("https://localhost:8000/a b", "localhost-8000-2", "/a%20b"),
            (
                "https://a-model-of-ours-in-the-far-west.westus3.models.ai.azure.example/x",
                "a-model-of-ours-in-the-far-west-westus3-models-ai-azure-example",
                "/x",
            ),
        ] {
            assert_eq!(place(&mut hosts, url), (name.to_owned(), path.to_owned()), "{url}");
        }
        assert_eq!(hosts.urls()["openai"], "https://api.openai.com/v1");
        assert!(!format!("{hosts:?}").contains("hunter2"));
        let within = |hosts: &mut Hosts, url: &str| hosts.within(&UrlParts::parse(url).unwrap());
        let due = Some("/openai/files/1?a=b".to_owned());
        assert_eq!(within(&mut hosts, "https://api.openai.com/v1/files/1?a=b"), due);
        assert_eq!(within(&mut hosts, "https://elsewhere.example/"), None);
    }

    #[test]
    fn names_may_be_given() {
        let named =
            BTreeMap::from([("mistral".to_owned(), "https://api.mistral.ai/v1".to_owned())]);
        let mut hosts = Hosts::new(&named).unwrap();
        let due = ("mistral".to_owned(), "/chat/completions".to_owned());
        assert_eq!(place(&mut hosts, "https://api.mistral.ai/v1/chat/completions"), due);
        let long = format!("https://{}/", "h".repeat(300));
        for url in ["ftp://h/", "h/x", "https://", "https://h&h/", "https://u:hunter2@h&h/", &long]
        {
            let said = UrlParts::parse(url).unwrap_err().to_string();
            assert!(said.contains("URL") && !said.contains("hunter2"), "{url}: {said}");
        }
    }
}
