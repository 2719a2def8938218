//! Where the service is and how to talk to it.

use std::fmt;
use std::time::Duration;

use data_encoding::BASE64;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::model::secrets::Secrets;
use crate::model::{NamedUrl, ServiceTier, is_loopback, percent_decoded};

/// The address, the key, and how long one attempt may take.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// The address before `/chat/completions`, such as `https://api.openai.com/v1`. A user name and
    /// password in it are sent as basic authorisation; a query is sent along with every request.
    pub base_url: NamedUrl,
    /// The key; services on the local machine do not need one.
    pub key: Option<SecretString>,
    /// How long one attempt may take, from connecting to the last byte.
    pub timeout: Duration,
    /// The tier of service that chats are asked in; `None` for the provider's usual one.
    pub tier: Option<ServiceTier>,
}

impl fmt::Debug for OpenAiSettings {
    /// Hides the key, and any secret in the base URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenAiSettings { base_url, key, timeout, tier } = self;
        let host =
            Url::parse(base_url.as_str()).ok().and_then(|url| url.host_str().map(str::to_owned));
        f.debug_struct("OpenAiSettings")
            .field("host", &host)
            .field("key", key)
            .field("timeout", timeout)
            .field("tier", tier)
            .finish()
    }
}

/// Why the settings cannot be used. Never shows the key or the URL as given, which may contain a
/// password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenAiError {
    /// Not a URL.
    #[error("the base URL cannot be read ({0}); it looks like https://api.openai.com/v1")]
    NotAUrl(String),
    /// A URL that is not of a web server.
    #[error("the base URL begins with {0:?}; it must begin with http:// or https://")]
    Scheme(String),
    /// The URL of a single function of the service.
    #[error(
        "the base URL ends with {0}, which is added automatically: \
         leave it out, as in https://api.openai.com/v1"
    )]
    NotTheBase(&'static str),
    /// A fragment is never sent.
    #[error("the base URL has a \"#\" part, which cannot be sent")]
    Fragment,
    /// Two sets of credentials.
    #[error("both a key and a user name in the base URL: give one of them")]
    TwoIdentities,
    /// A key that cannot be sent in a header.
    #[error("the key is empty or has spaces or characters other than visible ASCII")]
    BadKey,
    /// An attempt needs some time.
    #[error("the timeout is zero")]
    NoTimeout,
    /// The HTTP client cannot be created.
    #[error("cannot create the HTTP client: {0}")]
    Client(String),
}

/// Checked settings.
pub(super) struct Endpoint {
    /// Without user name and password; with its query.
    base: Url,
    /// The form that is shown, without user name, password or query.
    pub(super) source: String,
    /// Whether it is on this machine.
    pub(super) loopback: bool,
    /// The whole header with the key, marked sensitive.
    pub(super) authorization: Option<(HeaderName, HeaderValue)>,
    pub(super) secrets: Secrets,
}

impl Endpoint {
    /// An endpoint whose key is in the header of this name; `None` for `Authorization: Bearer`.
    pub(super) fn new(
        base_url: &NamedUrl,
        key: Option<&SecretString>,
        header: Option<&'static str>,
    ) -> Result<Self, OpenAiError> {
        let mut base = Url::parse(base_url.as_str().trim())
            .map_err(|e| OpenAiError::NotAUrl(e.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(OpenAiError::Scheme(base.scheme().chars().take(20).collect()));
        }
        if base.fragment().is_some() {
            return Err(OpenAiError::Fragment);
        }
        for function in ["/chat/completions", "/embeddings"] {
            if base.path().trim_end_matches('/').ends_with(function) {
                return Err(OpenAiError::NotTheBase(function));
            }
        }
        let mut secrets = Secrets::default();
        secrets.add_query(&base);
        let authorization = match (key, userinfo(&base)) {
            (Some(_), Some(_)) => return Err(OpenAiError::TwoIdentities),
            (Some(key), None) => Some(match header {
                Some(name) => (HeaderName::from_static(name), with_key(key, "", &mut secrets)?),
                None => (AUTHORIZATION, with_key(key, "Bearer ", &mut secrets)?),
            }),
            (None, Some(userinfo)) => Some((AUTHORIZATION, basic(&base, &userinfo, &mut secrets)?)),
            (None, None) => None,
        };
        let no_host = |()| OpenAiError::NotAUrl("it has no host".to_owned());
        base.set_username("").and_then(|()| base.set_password(None)).map_err(no_host)?;
        let mut shown = base.clone();
        shown.set_query(None);
        let loopback = is_loopback(&base);
        Ok(Endpoint {
            base,
            source: shown.as_str().trim_end_matches('/').to_owned(),
            loopback,
            authorization,
            secrets,
        })
    }

    /// The address of a function of the service.
    pub(super) fn url<S: AsRef<str>>(&self, function: &[S]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(function.iter().map(AsRef::as_ref));
        }
        url
    }
}

fn with_key(
    key: &SecretString,
    before: &str,
    secrets: &mut Secrets,
) -> Result<HeaderValue, OpenAiError> {
    let key = key.expose_secret().trim();
    if key.is_empty() || !key.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(OpenAiError::BadKey);
    }
    secrets.add(key);
    sensitive(&format!("{before}{key}"))
}

fn basic(base: &Url, userinfo: &str, secrets: &mut Secrets) -> Result<HeaderValue, OpenAiError> {
    let encoded = BASE64.encode(userinfo.as_bytes());
    secrets.add(&encoded);
    match userinfo.split_once(':') {
        // Some services take the key as a user name.
        Some((user, "")) => secrets.add(user),
        Some((_, password)) => secrets.add(password),
        None => {}
    }
    secrets.add(base.password().unwrap_or(""));
    sensitive(&format!("Basic {encoded}"))
}

fn sensitive(text: &str) -> Result<HeaderValue, OpenAiError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| OpenAiError::BadKey)?;
    value.set_sensitive(true);
    Ok(value)
}

/// `user:password`, decoded.
fn userinfo(url: &Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    Some(format!(
        "{}:{}",
        percent_decode(url.username()),
        percent_decode(url.password().unwrap_or(""))
    ))
}

/// Percent-decoded. Bytes that are not UTF-8 are sent as replacement characters, and the service
/// rejects them.
fn percent_decode(text: &str) -> String {
    String::from_utf8_lossy(&percent_decoded(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(base_url: &str, key: Option<&str>) -> String {
        let key = key.map(SecretString::from);
        match Endpoint::new(&NamedUrl::from_user(base_url), key.as_ref(), None) {
            Ok(_) => panic!("{base_url} was accepted"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn wrong_settings_are_explained() {
        let all = [
            refused("api.openai.com/v1", None),
            refused("ftp://example.org", None),
            refused("https://example.org/v1/chat/completions", None),
            refused("https://example.org/v1#x", None),
            refused("https://user:hunter2@example.org/v1", Some("sk-1234")),
            refused("https://example.org/v1", Some("sk 1234")),
            refused("https://example.org/v1", Some("")),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn functions_are_added_to_the_path_before_the_query() {
        let url = "https://u:hunter2@example.org/a/v1/?api-version=2024-10-21";
        let endpoint = Endpoint::new(&NamedUrl::from_user(url), None, None).unwrap();
        assert_eq!(
            endpoint.url(&["chat", "completions"]).as_str(),
            "https://example.org/a/v1/chat/completions?api-version=2024-10-21"
        );
        assert_eq!(endpoint.source, "https://example.org/a/v1");
        let (_, authorization) = endpoint.authorization.unwrap();
        assert_eq!(authorization, "Basic dTpodW50ZXIy");
        assert!(authorization.is_sensitive(), "or HTTP/2 would log it");
        assert_eq!(
            endpoint.secrets.strike("hunter2 dTpodW50ZXIy 2024-10-21"),
            "[key] [key] 2024-10-21"
        );
    }

    #[test]
    fn settings_are_shown_without_secrets() {
        let settings = OpenAiSettings {
            base_url: NamedUrl::from_user("https://u:hunter2@example.org/v1?key=q5ecre7"),
            key: Some("sk-5ecre7".into()),
            timeout: Duration::from_secs(1),
            tier: None,
        };
        let shown = format!("{settings:?}");
        assert!(!shown.contains("hunter2") && !shown.contains("5ecre7"), "{shown}");
        let url = NamedUrl::from_user("https://example.org/v1");
        let endpoint = Endpoint::new(&url, settings.key.as_ref(), None).unwrap();
        assert!(endpoint.authorization.unwrap().1.is_sensitive());
        let named = Endpoint::new(&url, settings.key.as_ref(), Some("x-api-key")).unwrap();
        let (name, value) = named.authorization.unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-api-key", "sk-5ecre7"));
        assert!(value.is_sensitive());
    }
}
