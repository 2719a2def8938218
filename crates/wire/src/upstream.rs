//! Where requests go: only to servers that the user named, through the user's proxy.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use hyper::http::{HeaderMap, StatusCode, header};
use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};
use retold::model::providers::is_known_host;
use retold::model::{Failure, FailureKind, NamedUrl, is_loopback, percent_decoded};

use crate::addresses::{ELSEWHERE, LED, ORIGIN, OWN, is_host};
use crate::heads::is_forwarded;
use crate::incoming::Incoming;
use crate::limits::{CONNECT, FILES_EXHAUSTED, LONGEST_UPSTREAM, SILENCE};
use crate::locations::translate_all;
use crate::open_files;
use crate::upstream_failures::{innermost, not_sent};
use crate::websocket::{UpgradedUpstream, accepts, handshake_headers};

/// Why an upstream cannot be used. Never shows the URL, which may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// A name that cannot be part of a path.
    #[error(
        "the upstream name {0:?} is not made of lower-case letters, digits, - and _, nor the name of a host"
    )]
    Name(String),
    /// A name that is a path of our own.
    #[error("the upstream name {0:?} is taken: choose another")]
    Taken(String),
    /// Not a URL.
    #[error(
        "the URL of the upstream {name} cannot be read ({reason}); it looks like https://api.openai.com/v1"
    )]
    Url {
        /// The upstream.
        name: String,
        /// Why not.
        reason: String,
    },
    /// The HTTP client cannot be created.
    #[error("cannot create the HTTP client: {0}")]
    Client(String),
}

/// The upstreams of a run.
pub struct Upstreams {
    /// Those that a program's transport names are added.
    named: RwLock<BTreeMap<String, Url>>,
    /// Through the user's proxy, if there is one.
    http: Client,
    /// Past it, for servers on this machine.
    local: Client,
    /// Those that are trusted besides those of this machine.
    authorities: Vec<Certificate>,
    /// Whether known providers are asked under the names of their hosts.
    known_hosts: bool,
}

impl Upstreams {
    /// Upstreams by name. A URL's user name and password are sent as basic authorisation.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub fn new(named: &BTreeMap<String, NamedUrl>) -> Result<Self, UpstreamError> {
        Upstreams::trusting(named, &[])
    }

    /// The same, with files in PEM whose authorities are trusted besides those of this machine.
    ///
    /// # Errors
    /// [`UpstreamError`].
    pub fn trusting(
        named: &BTreeMap<String, NamedUrl>,
        files: &[Vec<u8>],
    ) -> Result<Self, UpstreamError> {
        let named = named.iter().map(|(name, url)| Ok((upstream_name(name)?, base(name, url)?)));
        // The first provider wins: an application that installed another one earlier wanted that one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let authorities = files.iter().filter_map(|pem| Certificate::from_pem_bundle(pem).ok());
        let authorities: Vec<Certificate> = authorities.flatten().collect();
        let client = |is_local| {
            let made = client(&authorities, is_local).build();
            made.map_err(|e| UpstreamError::Client(innermost(&e.without_url())))
        };
        Ok(Upstreams {
            named: RwLock::new(named.collect::<Result<_, UpstreamError>>()?),
            http: client(false)?,
            local: client(true)?,
            authorities,
            known_hosts: false,
        })
    }

    /// The same upstreams, and known providers under the names of their hosts.
    pub fn with_known_hosts(self) -> Self {
        Upstreams { known_hosts: true, ..self }
    }

    /// The names.
    pub fn names(&self) -> Vec<String> {
        self.bases().keys().cloned().collect()
    }

    /// Adds an upstream that the program asks itself, unless there is one of the name.
    pub(crate) fn add(&self, name: &str, base: &Url) {
        if !self.bases().contains_key(name) {
            let mut named = self.named.write().unwrap_or_else(PoisonError::into_inner);
            named.entry(name.to_owned()).or_insert_with(|| base.clone());
        }
    }

    fn bases(&self) -> RwLockReadGuard<'_, BTreeMap<String, Url>> {
        self.named.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The base URL of an upstream.
    pub(crate) fn base(&self, name: &str) -> Option<Url> {
        match self.bases().get(name) {
            Some(base) => Some(base.clone()),
            None if self.known_hosts && is_known_host(name) => {
                Url::parse(&format!("https://{name}")).ok()
            }
            None => None,
        }
    }

    /// The path at retold of a URL in the answer to a request, which may be relative: that of an
    /// upstream whose server has it, if possible the one that was asked. A URL elsewhere as it is,
    /// or whole if it was relative; `None` if it is no URL of a server.
    pub(crate) fn path_of(&self, asked: &Incoming, url: &str) -> Option<String> {
        let base = self.base(&asked.upstream)?;
        let whole = url_below(&base, &asked.path, asked.query.as_deref())?;
        let whole = join(&whole, url)?;
        if !matches!(whole.scheme(), "http" | "https") {
            return None;
        }
        let path = self.place_of(&whole, &asked.upstream);
        let is_whole = url.is_ascii() && Url::parse(url).is_ok();
        path.or_else(|| Some(if is_whole { url.to_owned() } else { whole.into() }))
    }

    /// The path at retold of a URL in an answer of the upstream `asked`, if it leads to an upstream.
    pub(crate) fn place_of(&self, whole: &Url, asked: &str) -> Option<String> {
        let host = whole.host_str()?;
        let origin = self.base(asked).map(|base| base.origin());
        let host = self.base(host).filter(|_| is_host(host)).map(|_| host);
        let opened = host.and_then(|name| {
            let base = Url::parse(&format!("https://{name}")).ok()?;
            Some(UpstreamPlace { name, base })
        });
        let all = self.bases();
        let named = all.iter().map(|(name, base)| UpstreamPlace { name, base: base.clone() });
        let found = named.chain(opened).filter_map(|place| {
            let led = if Some(whole.origin()) == origin { "" } else { LED };
            let (is_below, path) = place.path_of(whole, led)?;
            // A server does not choose which URLs are asked outside of the base URL of another.
            if !is_below && !led.is_empty() {
                return None;
            }
            let is_own = place.name == asked;
            let same_kind = is_host(place.name) == is_host(asked);
            Some(((is_below, is_own, same_kind, place.base.path().len()), path))
        });
        found.max_by(|one, other| one.0.cmp(&other.0)).map(|(_, path)| path)
    }

    /// Makes the URLs in the headers of an upstream's answer paths at retold, if they lead to an upstream; all
    /// others become whole.
    pub(crate) fn inward(&self, headers: &mut HeaderMap, asked: &Incoming) {
        translate_all(headers, |_, url| self.path_of(asked, url));
    }

    /// Opens a WebSocket.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) async fn open_socket(
        &self,
        incoming: &Incoming,
    ) -> Result<UpgradedUpstream, Failure> {
        let name = &incoming.upstream;
        let failed = |kind, what: &str| Failure::new(kind, format!("upstream {name}: {what}"));
        let (base, url) = self.url(incoming)?;
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            return Err(failed(FailureKind::Connection, "this machine has no random numbers"));
        }
        let mut headers = forwarded_headers(&incoming.headers);
        headers.remove(header::CONTENT_TYPE);
        let key = handshake_headers(&mut headers, random);
        // A connection of HTTP/2 cannot become a WebSocket.
        let client = client(&self.authorities, is_loopback(&base)).http1_only().build();
        let client = client.map_err(|error| not_sent(name, error))?;
        let response = client.get(url).headers(headers).send().await;
        let response = response.map_err(|error| not_sent(name, error))?;
        if response.status().is_success() {
            return Err(failed(FailureKind::Rejected, "it does not speak WebSocket there"));
        }
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(UpgradedUpstream::Refused(Box::new(response)));
        }
        if !accepts(response.headers(), &key) {
            return Err(failed(FailureKind::Malformed, "its answer is not that of a WebSocket"));
        }
        let headers = response.headers().clone();
        let connection = response.upgrade().await.map_err(|error| not_sent(name, error))?;
        Ok(UpgradedUpstream::Socket(Box::new(connection), headers))
    }

    /// The base URL of the upstream of a request, and the whole URL.
    fn url(&self, incoming: &Incoming) -> Result<(Url, Url), Failure> {
        let refused = |why: &str| Failure::new(FailureKind::Rejected, why);
        let base = self.base(&incoming.upstream);
        let mut base = base.ok_or_else(|| refused("there is no such upstream"))?;
        if incoming.is_led {
            base = without_credentials(base);
        }
        let url = url_below(&base, &incoming.path, incoming.query.as_deref());
        let url = url.ok_or_else(|| refused("the path leads out of the upstream"))?;
        Ok((base, url))
    }

    /// Sends a request, and waits for the head of the answer.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn send(&self, incoming: &Incoming) -> Result<reqwest::Response, Failure> {
        let (base, url) = self.url(incoming)?;
        let client = if is_loopback(&base) { &self.local } else { &self.http };
        loop {
            let request = client
                .request(incoming.method.clone(), url.clone())
                .headers(forwarded_headers(&incoming.headers))
                .body(incoming.body.clone());
            match request.send().await {
                // Nothing was sent, and the upstream has nothing to do with it: others will end.
                Err(error) if error.is_connect() && open_files::are_exhausted(&error) => {
                    tracing::warn!("too many files are open: waiting to connect");
                    tokio::time::sleep(FILES_EXHAUSTED).await;
                }
                sent => return sent.map_err(|e| not_sent(&incoming.upstream, e)),
            }
        }
    }
}

/// A client for HTTP, past the user's proxy if it is for servers on this machine.
fn client(authorities: &[Certificate], is_local: bool) -> ClientBuilder {
    let builder = Client::builder()
        // A redirect would carry the key to another host: the program gets it as it is.
        .redirect(redirect::Policy::none())
        // Every attempt is an event.
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT)
        .read_timeout(SILENCE)
        .referer(false)
        .tls_certs_merge(authorities.iter().cloned());
    if is_local { builder.no_proxy() } else { builder }
}

/// A base URL without a user, a password and a query, which may have a key.
fn without_credentials(mut base: Url) -> Url {
    // These fail for URLs without a host, which have none.
    let _ = base.set_username("");
    let _ = base.set_password(None);
    base.set_query(None);
    base
}

/// A base URL, by the place of an upstream at retold.
struct UpstreamPlace<'a> {
    name: &'a str,
    base: Url,
}

impl UpstreamPlace<'_> {
    /// The path at retold of a URL at this server, with `led` before the part below it, and whether it is below
    /// the base URL.
    fn path_of(&self, url: &Url, led: &str) -> Option<(bool, String)> {
        if url.origin() != self.base.origin() {
            return None;
        }
        let query = |query: Option<&str>| query.map_or_else(String::new, |it| format!("?{it}"));
        let fragment = url.fragment().map_or_else(String::new, |it| format!("#{it}"));
        let below = url.path().strip_prefix(self.base.path().trim_end_matches('/'));
        let below = below.filter(|below| below.is_empty() || below.starts_with('/'));
        let rest = match self.base.query().filter(|query| !query.is_empty()) {
            None => Some(query(url.query())),
            Some(_) if !led.is_empty() => Some(query(url.query())),
            // It is added to each request.
            Some(ours) => url.query().and_then(|it| it.strip_prefix(ours)).and_then(|rest| {
                let rest = rest.strip_prefix('&').or(rest.is_empty().then_some(""))?;
                Some(query((!rest.is_empty()).then_some(rest)))
            }),
        };
        let name = self.name;
        Some(match (below, rest) {
            (Some(below), Some(rest)) => (true, format!("/{name}{led}{below}{rest}{fragment}")),
            _ => {
                let (path, query) = (url.path(), query(url.query()));
                (false, format!("/{name}{led}{ORIGIN}{path}{query}{fragment}"))
            }
        })
    }
}

/// A name as it is used in paths and variables.
fn upstream_name(name: &str) -> Result<String, UpstreamError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    let is_short = !name.is_empty() && name.len() <= LONGEST_UPSTREAM && name.chars().all(fits);
    if !is_short && !is_host(name) {
        return Err(UpstreamError::Name(name.chars().take(40).collect()));
    }
    if TAKEN.contains(&name) {
        return Err(UpstreamError::Taken(name.to_owned()));
    }
    Ok(name.to_owned())
}

/// The first parts of paths that are not upstreams.
const TAKEN: &[&str] = &[OWN, ELSEWHERE, "run", "token"];

/// A URL as clients read it: what browsers skip in it is skipped.
pub(crate) fn join(base: &Url, url: &str) -> Option<Url> {
    let url = url.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r'], "");
    // Before a host, each number of slashes means the same to them.
    let rest = url.trim_start_matches(['/', '\\']);
    let url = if url.len() - rest.len() > 1 { format!("//{rest}") } else { url };
    base.join(&url).ok()
}

fn base(name: &str, url: &NamedUrl) -> Result<Url, UpstreamError> {
    let wrong = |reason: String| UpstreamError::Url { name: name.to_owned(), reason };
    let url = Url::parse(url.as_str().trim()).map_err(|e| wrong(e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("it does not begin with http:// or https://".to_owned()));
    }
    if url.fragment().is_some() {
        return Err(wrong("it has a # part".to_owned()));
    }
    Ok(url)
}

/// How often a path may be escaped.
const MOST_DECODED: usize = 4;

/// The URL of a path below a base; `None` if it would be elsewhere.
fn url_below(base: &Url, path: &str, query: Option<&str>) -> Option<Url> {
    // Servers decode a path, some of them more than once, and take what comes out for names of folders.
    let mut decoded = path.to_owned();
    for _ in 0..MOST_DECODED {
        if decoded.split(['/', '\\']).any(|part| part == "." || part == "..") {
            return None;
        }
        decoded = String::from_utf8_lossy(&percent_decoded(&decoded)).into_owned();
    }
    let mut url = base.clone();
    let at_origin = path.strip_prefix(ORIGIN).filter(|path| path.starts_with('/'));
    let (path, ours) = match at_origin {
        Some(path) => (path.to_owned(), None),
        None => (format!("{}{path}", base.path().trim_end_matches('/')), base.query()),
    };
    url.set_path(&path);
    let queries = [ours, query].into_iter().flatten().filter(|query| !query.is_empty());
    let queries = queries.collect::<Vec<_>>().join("&");
    url.set_query((!queries.is_empty()).then_some(&queries));
    Some(url)
}

fn forwarded_headers(headers: &HeaderMap) -> HeaderMap {
    let mut all = HeaderMap::with_capacity(headers.len() + 1);
    for (name, value) in headers.iter().filter(|(name, _)| is_forwarded(name)) {
        all.append(name.clone(), value.clone());
    }
    // The answer is recorded without the encoding in which it was sent.
    all.insert(header::ACCEPT_ENCODING, header::HeaderValue::from_static("identity"));
    all
}

#[cfg(test)]
mod tests {
    use hyper::http::Method;

    use super::*;

    fn inside(upstream: &str, url: &str) -> String {
        let named = [
            ("openai", "http://h.example:8000/v1"),
            ("azure", "https://az.example?api-version=1"),
            ("other", "http://h.example:8000/v1/other"),
            ("api.example.test", "http://127.0.0.1:9"),
        ];
        let named = named.map(|(name, url)| (name.to_owned(), NamedUrl::from_user(url)));
        let upstreams = Upstreams::new(&BTreeMap::from(named)).unwrap().with_known_hosts();
        let asked = Incoming {
            upstream: upstream.to_owned(),
            is_led: false,
            method: Method::GET,
            path: "/chat/completions".to_owned(),
            query: Some("x=y".to_owned()),
            headers: HeaderMap::new(),
            body: bytes::Bytes::new(),
        };
        upstreams.path_of(&asked, url).unwrap_or_default()
    }

    #[test]
    fn a_url_of_an_upstream_is_a_path_inside() {
        for (upstream, url, due) in [
            ("openai", "http://h.example:8000/v1/a?b=c#d", "/openai/a?b=c#d"),
            ("openai", "/v1/a", "/openai/a"),
            ("openai", "a", "/openai/chat/a"),
            ("openai", "../a?b", "/openai/a?b"),
            ("openai", "?b", "/openai/chat/completions?b"),
            // Outside of the base URL, yet at the same server.
            ("openai", "/v2/a", "/openai/_origin/v2/a"),
            ("openai", "/v11/a", "/openai/_origin/v11/a"),
            ("openai", "http://h.example:8000/v1/other/a", "/openai/other/a"),
            ("other", "/v1/other/a", "/other/a"),
            ("other", "/v1/a", "/openai/a"),
            // The query of the base URL comes back by itself.
            ("azure", "https://az.example/a?api-version=1&b=c", "/azure/a?b=c"),
            ("azure", "https://az.example/a?b=c", "/azure/_origin/a?b=c"),
            // Another server gets no keys.
            ("openai", "https://az.example/a?api-version=1", "/azure/_led/a?api-version=1"),
            ("openai", "https://az.example/a?b=c", "/azure/_led/a?b=c"),
            // And is asked nothing but what is below its base URL.
            ("api.example.test", "http://h.example:8000/v2", "http://h.example:8000/v2"),
            ("openai", "//az.example/a?api-version=1", "http://az.example/a?api-version=1"),
            ("api.example.test", "http://127.0.0.1:9/a", "/api.example.test/a"),
            ("api.example.test", "https://api.openai.com/v1/a", "/api.openai.com/_led/v1/a"),
            ("api.example.test", "https://api.example.test/a", "/api.example.test/_led/a"),
            // As browsers read it.
            ("openai", " /v1\t/a", "/openai/a"),
            ("openai", "/v1/\u{fc}", "/openai/%C3%BC"),
            ("openai", "///h.example:8000/v1/a", "/openai/a"),
            ("openai", "\\\\evil.example/a", "http://evil.example/a"),
            ("openai", "////evil.example/a", "http://evil.example/a"),
            // Elsewhere.
            ("openai", "https://h.example:8000/v1/a", "https://h.example:8000/v1/a"),
            ("openai", "//evil.example/a", "http://evil.example/a"),
            ("openai", "mailto:a@b.example", ""),
        ] {
            assert_eq!(inside(upstream, url), due, "{upstream} {url}");
        }
    }

    #[test]
    fn a_path_stays_below_its_upstream() {
        let base = Url::parse("https://h.example/tenant/v1/?api-version=1").unwrap();
        let url = |path: &str, query| url_below(&base, path, query).map(String::from);
        let due = "https://h.example/tenant/v1/chat/completions?api-version=1&x=y";
        assert_eq!(url("/chat/completions", Some("x=y")).as_deref(), Some(due));
        for out in [
            "/../admin", "/a/%2E%2e/b", "/./x", "/..", "/a\\..\\b", "/..%2fadmin", "/a%2F..%2Fb",
            "/%252e%252e/x", "/a/%2e%252e%255c", "/x%5c..",
        ] {
            assert_eq!(url(out, None), None, "{out}");
        }
        assert!(url("/models/a%2Fb..c/%2E%2E%2E", None).is_some());
        let at = url("//evil.example/@x", None).unwrap();
        assert!(at.starts_with("https://h.example/tenant/v1//"), "{at}");
    }

    #[test]
    fn what_cannot_be_an_upstream_is_explained() {
        let error = |name: &str, url: &str| {
            let named = BTreeMap::from([(name.to_owned(), NamedUrl::from_user(url))]);
            Upstreams::new(&named).err().map(|e| e.to_string())
        };
        assert_eq!(error("openai", "https://u:hunter2@h.example/v1"), None);
        for (name, url) in
            [("a/b", "http://h"), ("", "http://h"), ("a", "ftp://u:hunter2@h"), ("a", "h:hunter2")]
        {
            let said = error(name, url).unwrap();
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
}
