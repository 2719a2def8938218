//! From a URL that a program asks to the upstream that stands for it, for programs whose transport sends us their
//! requests as they are and says in a header which server they are for.

use std::collections::BTreeSet;

use hyper::http::HeaderMap;
use reqwest::Url;
use retold::escaping::printable;
use retold::model::providers;

use crate::addresses::{HTTPS, is_host};
use crate::limits::LONGEST_UPSTREAM;
use crate::reach::only;
use crate::refusal::NotLetIn;

/// The server that a request is for, such as `https://api.openai.com`; not forwarded.
pub(crate) const ORIGIN_ASKED: &str = "x-retold-origin";

/// The base URLs below which requests belong to a named upstream.
#[derive(Debug, Clone, Default)]
pub struct Origins(Vec<NamedBase>);

#[derive(Debug, Clone)]
struct NamedBase {
    name: String,
    base: Url,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OriginPlace {
    /// The name of the upstream.
    pub(crate) upstream: String,
    /// Its base URL.
    pub(crate) base: Url,
    /// The path below it.
    pub(crate) path: String,
}

impl Origins {
    /// The base URLs of upstreams, and those of the providers for all that have another name. What cannot be read
    /// is left out, because it is the base of no request.
    pub fn new(named: impl IntoIterator<Item = (String, String)>) -> Self {
        let parsed =
            |(name, url): (String, String)| Some(NamedBase { name, base: Url::parse(&url).ok()? });
        let mut all: Vec<NamedBase> = named.into_iter().filter_map(parsed).collect();
        let own = providers::providers()
            .filter_map(|it| parsed((it.name.to_owned(), it.default?.to_owned())));
        let own: Vec<_> =
            own.filter(|own| all.iter().all(|named| named.name != own.name)).collect();
        all.extend(own);
        Origins(all)
    }

    /// For a replay: the providers' own servers stand for upstreams whose requests went elsewhere, such as to a gateway that a
    /// variable named, so that a replay needs no variable. Not if requests to such a server itself are recorded, by the name of its host.
    #[must_use]
    pub fn with_own(mut self, asked: &BTreeSet<String>) -> Self {
        let own = providers::providers().filter_map(|it| {
            let base = Url::parse(it.default?).ok()?;
            let is_asked = base.host_str().is_some_and(|host| asked.contains(host));
            (!is_asked).then(|| NamedBase { name: it.name.to_owned(), base })
        });
        self.0.extend(own);
        self
    }

    /// The place of a request for another server; `None` if it says none.
    ///
    /// # Errors
    /// [`NotLetIn`] if the header is not the origin of a URL.
    pub(crate) fn place(
        &self,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<Option<OriginPlace>, NotLetIn> {
        let wrong =
            |said: String| NotLetIn::new(400, "retold_origin", format!("X-Retold-Origin: {said}"));
        let Some(given) = only(headers, ORIGIN_ASKED).map_err(|said| wrong(said.to_owned()))?
        else {
            return Ok(None);
        };
        let not_one = || {
            wrong(format!(
                "{} is not a server, as in https://api.openai.com",
                printable(given, 100)
            ))
        };
        let origin = Url::parse(given).ok().filter(is_origin).ok_or_else(not_one)?;
        let below = |named: &&NamedBase| below(&named.base, &origin, path).is_some();
        let nearest = self.0.iter().filter(below).max_by_key(|named| named.base.path().len());
        let (upstream, base) = match nearest {
            Some(named) => (named.name.clone(), named.base.clone()),
            None => (name_of(&origin).ok_or_else(not_one)?, origin.clone()),
        };
        let path = below_path(&base, path).to_owned();
        Ok(Some(OriginPlace { upstream, base, path }))
    }
}

impl OriginPlace {
    /// The URL of a path below an upstream, as the program asks it; `None` if it has none of the name.
    pub(crate) fn url(&self, origins: &Origins, upstream: &str, below: &str) -> Option<String> {
        let named = || {
            origins.0.iter().find(|named| named.name == upstream).map(|named| named.base.as_str())
        };
        let base = match self.upstream == upstream {
            true => Some(self.base.as_str()),
            false => named(),
        };
        match base {
            Some(base) => Some(format!("{}{below}", base.trim_end_matches('/'))),
            None => is_host(upstream).then(|| format!("https://{upstream}{below}")),
        }
    }
}

/// The path at retold of a URL below a provider's own base URL.
pub(crate) fn place_of_default(url: &Url) -> Option<String> {
    let Origins(all) = Origins::new([]);
    let below = |named: NamedBase| {
        let path = below(&named.base, url, url.path())?;
        let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
        Some((named.base.path().len(), format!("/{}{path}{query}", named.name)))
    };
    all.into_iter().filter_map(below).max().map(|(_, path)| path)
}

/// Whether a URL is nothing but a server.
fn is_origin(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some()
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

fn below<'a>(base: &Url, origin: &Url, path: &'a str) -> Option<&'a str> {
    (base.origin() == origin.origin()).then(|| below_path_of(base, path)).flatten()
}

fn below_path_of<'a>(base: &Url, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(base.path().trim_end_matches('/'))?;
    rest.starts_with('/').then_some(rest)
}

fn below_path<'a>(base: &Url, path: &'a str) -> &'a str {
    below_path_of(base, path).unwrap_or(path)
}

/// The name of a server that nobody named: its host, as for a connection that is opened, and where that is not enough,
/// its host and port.
fn name_of(origin: &Url) -> Option<String> {
    let host = origin.host_str()?.trim_end_matches('.');
    let port = origin.port_or_known_default()?;
    if origin.scheme() == "https" && port == HTTPS && is_host(host) {
        return Some(host.to_owned());
    }
    let port = port.to_string();
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let host: String = host.chars().map(fits).collect();
    let name = format!("{}-{port}", host.trim_matches('-'));
    (name.len() <= LONGEST_UPSTREAM).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(origins: &Origins, origin: &str, path: &str) -> Result<String, u16> {
        let headers =
            HeaderMap::from_iter([(ORIGIN_ASKED.parse().unwrap(), origin.parse().unwrap())]);
        let place = origins.place(&headers, path).map_err(|refused| refused.status)?.unwrap();
        Ok(format!("{} {} {}", place.upstream, place.base, place.path))
    }

    #[test]
    fn a_server_has_the_name_that_its_upstream_has_on_the_command_line() {
        let named = [("vllm".to_owned(), "http://localhost:8000/v1".to_owned())];
        let origins = Origins::new(named);
        for (origin, path, due) in [
            (
                "https://api.openai.com",
                "/v1/chat/completions",
                "openai https://api.openai.com/v1 /chat/completions",
            ),
            (
                "https://api.openai.com:443",
                "/v1/models",
                "openai https://api.openai.com/v1 /models",
            ),
            (
                "https://api.openai.com",
                "/v2/models",
                "api.openai.com https://api.openai.com/ /v2/models",
            ),
            (
                "https://api.anthropic.com",
                "/v1/messages",
                "anthropic https://api.anthropic.com/ /v1/messages",
            ),
            (
                "http://localhost:8000",
                "/v1/embeddings",
                "vllm http://localhost:8000/v1 /embeddings",
            ),
            ("http://localhost:8000", "/v11/x", "localhost-8000 http://localhost:8000/ /v11/x"),
            ("https://localhost", "/x", "localhost-443 https://localhost/ /x"),
            ("http://[::1]:80", "/x", "1-80 http://[::1]/ /x"),
        ] {
            assert_eq!(place(&origins, origin, path).unwrap(), due, "{origin}");
        }
        for wrong in
            ["", "api.openai.com", "ftp://h", "https://u:p@h", "https://h/v1", "https://h?a"]
        {
            assert_eq!(place(&origins, wrong, "/x"), Err(400), "{wrong}");
        }
        assert!(origins.place(&HeaderMap::new(), "/x").unwrap().is_none());
    }

    #[test]
    fn a_provider_s_own_server_stands_for_the_gateway_that_was_asked() {
        let named = [("openai".to_owned(), "http://gateway:8000/v1".to_owned())];
        let origins = Origins::new(named);
        let (own, path) = ("https://api.openai.com", "/v1/models");
        let by_host = "api.openai.com https://api.openai.com/ /v1/models";
        assert_eq!(place(&origins, own, path).unwrap(), by_host);
        let replayed = origins.clone().with_own(&BTreeSet::from(["openai".to_owned()]));
        let by_name = "openai https://api.openai.com/v1 /models";
        assert_eq!(place(&replayed, own, path).unwrap(), by_name);
        let gateway = "openai http://gateway:8000/v1 /models";
        assert_eq!(place(&replayed, "http://gateway:8000", path).unwrap(), gateway);
        let both = origins.with_own(&BTreeSet::from(["api.openai.com".to_owned()]));
        assert_eq!(place(&both, own, path).unwrap(), by_host);
    }
}
