//! A base URL that the user has named: keys are only sent to such URLs.

use std::fmt;

use reqwest::Url;

use super::providers::{self, StudyAccess};

/// A base URL that the user named in this invocation: in a config, in a flag or in the environment.
///
/// Every API client takes this type, and no other type converts to it: a URL from a run, a
/// recording or an answer is a plain text, so it can never receive a key.
#[derive(Clone, PartialEq, Eq)]
pub struct NamedUrl(String);

impl NamedUrl {
    /// A URL given by the user. Never pass one from a file that somebody else may have written.
    pub fn from_user(url: impl Into<String>) -> Self {
        NamedUrl(url.into())
    }

    /// The address of a provider's own API, which is built into the program; empty, and therefore refused, if the
    /// provider has no single one.
    pub fn own(access: &StudyAccess) -> Self {
        NamedUrl(access.provider.default.unwrap_or_default().to_owned())
    }

    /// The URL as given: it may hold a password or a key, so it is only for connecting to, never for
    /// showing or recording.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL as it may be recorded and shown: see [`without_secrets`].
    pub fn without_secrets(&self) -> String {
        without_secrets(&self.0)
    }

    /// The server: scheme, host and port. `None` for a text that is not a URL.
    pub fn server(&self) -> Option<String> {
        let url = Url::parse(self.0.trim()).ok()?;
        url.has_host().then(|| url.origin().ascii_serialization())
    }

    /// Whether the server is one to which an environment variable's key is usually sent: the provider's whose SDKs
    /// read it, or one on this machine, which may stand for any provider.
    pub fn is_usual_for(&self, variable: &str) -> bool {
        let Ok(url) = Url::parse(self.0.trim()) else { return false };
        let Some(host) = url.host_str() else { return false };
        if is_loopback(&url) {
            return providers::is_key_variable(variable);
        }
        url.scheme() == "https" && providers::is_key_of_host(variable, host)
    }

    /// Whether a URL names the same place, ignoring any secrets in the two.
    pub fn is_at(&self, url: &str) -> bool {
        let place = without_secrets(&self.0);
        !place.is_empty() && place == without_secrets(url)
    }
}

/// Whether a URL leads to this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or("");
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl fmt::Debug for NamedUrl {
    /// Hides everything that may hold a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedUrl").field(&without_secrets(&self.0)).finish()
    }
}

/// A base URL as it may be recorded and shown: without user name, password and query, each of which
/// may hold a key. For a text that is not a URL, nothing is kept.
pub fn without_secrets(base_url: &str) -> String {
    let Ok(mut url) = Url::parse(base_url.trim()) else { return String::new() };
    url.set_query(None);
    url.set_fragment(None);
    // This fails only for a URL without a host, which has neither.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    url.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_compared_as_urls_and_without_secrets() {
        let named = NamedUrl::from_user("https://me:key@API.example.org:443/v1/?sig=1");
        assert!(named.is_at("https://api.example.org/v1"));
        assert!(!named.is_at("http://api.example.org/v1"));
        assert!(!named.is_at("https://api.example.org.evil.example/v1"));
        let openai = NamedUrl::own(providers::studies().next().unwrap());
        for other in [
            "https://api.openai.com@evil.example/v1",
            "https://api.openai.com.evil.example/v1",
            "https://api.openai.com/v1/../../v2",
            "http://api.openai.com/v1",
            "https://api.openai.com:444/v1",
            "https://api.openai.com\\@evil.example/v1",
            "https://аpi.openai.com/v1",
            "",
        ] {
            assert!(!openai.is_at(other), "{other}");
        }
        assert!(openai.is_usual_for("OPENAI_API_KEY") && !openai.is_usual_for("ANTHROPIC_API_KEY"));
        for (url, variable, due) in [
            ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", true),
            ("http://127.0.0.1:8000/v1", "OPENAI_API_KEY", true),
            ("http://[::1]:8000/v1", "OPENAI_API_KEY", true),
            ("http://127.0.0.1:8000/v1", "AWS_SECRET_ACCESS_KEY", false),
            ("http://api.openai.com/v1", "OPENAI_API_KEY", false),
            ("https://api.openai.com.evil.example/v1", "OPENAI_API_KEY", false),
            ("https://api.openai.com@evil.example/v1", "OPENAI_API_KEY", false),
            ("https://evil.example/v1", "OPENAI_API_KEY", false),
            ("no URL", "OPENAI_API_KEY", false),
        ] {
            assert_eq!(NamedUrl::from_user(url).is_usual_for(variable), due, "{variable} to {url}");
        }
        assert!(!NamedUrl::from_user("no URL").is_at("no URL"));
        assert_eq!(format!("{named:?}"), r#"NamedUrl("https://api.example.org/v1")"#);
    }
}
