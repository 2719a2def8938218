//! URLs in the headers of answers, which a client may ask next: those of an upstream lead through
//! retold.
//!
//! Inside and in the log, such a URL is `/UPSTREAM/PATH`, whatever the server of the upstream, our
//! port and our secret are. Only a client sees a whole URL again, below the one that it asked.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::Response;
use hyper::http::header::SET_COOKIE;
use hyper::http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;
use retold::escaping::printable;

use crate::asked::{Incoming, without_keys};
use crate::heads::Recorded;
use crate::intercept::hosts::is_host;
use crate::intercept::{HTTPS, Interception};
use crate::outlet::Outgoing;
use crate::session::Session;
use crate::upstream::{Upstreams, joined, led};

/// Headers that hold one URL.
const ONE: &[&str] = &[
    "location",
    "content-location",
    "operation-location",
    "azure-asyncoperation",
    "x-goog-upload-url",
    "x-goog-upload-control-url",
];

/// The header that holds several, each as `<URL>; rel=next`.
const SEVERAL: &str = "link";

/// Headers whose URLs are about an answer, and not what a client asks next.
const ABOUT: &[&str] = &["content-location", SEVERAL];

/// The first part of a path at retold that stands for a host which is none of the upstreams.
pub(crate) const ELSEWHERE: &str = "_elsewhere";

/// A value of a header with each URL in it translated; `None` if none is.
pub fn translated(
    name: &str,
    value: &str,
    mut translate: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    if ONE.contains(&name) {
        return translate(value.trim());
    }
    if name != SEVERAL {
        return None;
    }
    let (mut out, mut rest, mut any) = (String::new(), value, false);
    while let Some((before, after)) = rest.split_once('<') {
        let Some((url, after)) = after.split_once('>') else { break };
        let said = translate(url.trim());
        any |= said.is_some();
        out.push_str(&format!("{before}<{}>", said.as_deref().unwrap_or(url)));
        rest = after;
    }
    any.then(|| out + rest)
}

/// Translates each URL in the headers of an answer.
fn translate_all(
    headers: &mut HeaderMap,
    mut translate: impl FnMut(&HeaderName, &str) -> Option<String>,
) {
    for (name, value) in headers.iter_mut() {
        let said = as_text(value.as_bytes());
        let said = translated(name.as_str(), &said, |url| translate(name, url));
        if let Some(said) = said.and_then(|said| HeaderValue::from_str(&said).ok()) {
            *value = said;
        }
    }
}

/// The text of a header: UTF-8, or else Latin-1, as clients read it.
fn as_text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) => text.into(),
        Err(_) => value.iter().map(|byte| char::from(*byte)).collect::<String>().into(),
    }
}

/// The headers of an upstream's answer, as they are inside: its URLs and those of other upstreams are
/// paths, and all others are whole.
pub(crate) fn inward(headers: &mut HeaderMap, upstreams: &Upstreams, asked: &Incoming) {
    translate_all(headers, |_, url| upstreams.path_of(asked, url));
}

/// A header's value as it is recorded: without keys and passwords in its URLs.
pub(crate) fn without_secrets(name: &str, value: &str) -> Option<String> {
    translated(name, value, |url| {
        let url = url.split('#').next().unwrap_or_default();
        let (place, query) = match url.split_once('?') {
            Some((place, query)) => (place, without_keys(query)),
            None => (url, String::new()),
        };
        let place = match place.split_once("//") {
            Some((scheme, rest)) if !scheme.contains('/') => {
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                format!("{scheme}//{}{path}", host.rsplit('@').next().unwrap_or_default())
            }
            _ => place.to_owned(),
        };
        Some(if query.is_empty() { place } else { format!("{place}?{query}") })
    })
}

/// How a client addresses us.
pub(crate) struct Here {
    /// What stands before `/UPSTREAM/PATH`.
    pub(crate) base: String,
    /// The host that it asked, with its port, if its connection was opened.
    pub(crate) opened: Option<String>,
    /// The path of cookies that the upstream sets, which belong to it alone; `None` where it has a host of its own.
    pub(crate) cookies: Option<String>,
    /// Connections to hosts, if they are not left alone.
    pub(crate) interception: Option<Arc<Interception>>,
}

impl Here {
    /// The headers of an answer as the client gets them: what is a path inside is a URL below the
    /// one that it asked. In an answer that was recorded, URLs that lead elsewhere lead to us as well,
    /// where they are refused: only a server that is asked now may lead a program there, which is noted.
    pub(crate) fn outward(&self, response: &mut Response<Outgoing>, session: &Session) {
        let is_recorded = response.extensions().get::<Recorded>().is_some();
        let redirects = response.status().is_redirection();
        if let Some(path) = &self.cookies {
            for value in response.headers_mut().iter_mut().filter(|it| it.0 == SET_COOKIE) {
                let own = value.1.to_str().ok().map(|cookie| cookie_at(cookie, path));
                // What cannot be read is set for nobody.
                let own = own.and_then(|own| HeaderValue::from_str(&own).ok());
                *value.1 = own.unwrap_or_else(|| HeaderValue::from_static(""));
            }
        }
        translate_all(response.headers_mut(), |name, url| {
            if is_path(url) {
                return Some(self.at(url));
            }
            let url = match self.elsewhere(url) {
                Leads::Here => return None,
                Leads::Elsewhere(url) => Some(url),
                Leads::Unknown => None,
            };
            if is_recorded {
                let known = url.as_ref().zip(session.upstreams.as_ref());
                if let Some(path) = known.and_then(|(url, all)| all.place_of(url, "")) {
                    return Some(self.at(&path));
                }
                let (host, rest) =
                    url.as_ref().map_or((UNREADABLE.to_owned(), String::new()), |url| {
                        let query =
                            url.query().map_or_else(String::new, |query| format!("?{query}"));
                        (host_of(url), format!("{}{query}", url.path()))
                    });
                return Some(format!("{}/{ELSEWHERE}/{host}{rest}", self.base));
            }
            let host = url.as_ref().map_or_else(|| UNREADABLE.replace('-', " "), host_of);
            if redirects || !ABOUT.contains(&name.as_str()) {
                session.led_to(printable(&host, 100));
            }
            None
        });
    }

    /// A path inside, as the client writes it.
    fn at(&self, path: &str) -> String {
        let (upstream, rest) = match path[1..].find(['/', '?', '#']) {
            Some(at) => path[1..].split_at(at),
            None => (&path[1..], ""),
        };
        // To the client, a host that is opened is another origin.
        let (below, _) = led(rest);
        match &self.opened {
            Some(host) if host.split(':').next() == Some(upstream) => {
                format!("https://{host}{below}")
            }
            _ if is_host(upstream) && self.opens(upstream, HTTPS) => {
                format!("https://{upstream}{below}")
            }
            _ => format!("{}{path}", self.base),
        }
    }

    fn opens(&self, host: &str, port: u16) -> bool {
        self.interception.as_ref().is_some_and(|it| it.opens(host, port))
    }

    /// Where a URL leads that is no path inside.
    fn elsewhere(&self, url: &str) -> Leads {
        let Ok(ours) = Url::parse("http://retold.invalid/") else { return Leads::Unknown };
        let Some(url) = joined(&ours, url) else { return Leads::Unknown };
        // Recordings of earlier versions have relative URLs, which lead to us.
        let is_ours = url.host() == ours.host();
        // Recordings of earlier versions have whole URLs of hosts that are opened.
        let opened = url.host_str().zip(url.port_or_known_default());
        let is_opened =
            url.scheme() == "https" && opened.is_some_and(|(host, port)| self.opens(host, port));
        match url.scheme() {
            "http" | "https" if !is_ours && !is_opened => Leads::Elsewhere(url),
            _ => Leads::Here,
        }
    }
}

/// Whether a URL is a path inside, and to no client one with a host.
fn is_path(url: &str) -> bool {
    url.strip_prefix('/').is_some_and(|rest| !rest.starts_with(['/', '\\']))
}

/// A cookie that is sent to one path alone.
fn cookie_at(cookie: &str, path: &str) -> String {
    let is_kept = |part: &&str| {
        let name = part.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
        !matches!(&*name, "path" | "domain" | "secure")
    };
    let mut parts = cookie.split(';');
    let named = parts.next().unwrap_or_default();
    let rest: String = parts.filter(is_kept).map(|part| format!(";{part}")).collect();
    format!("{named}{rest}; Path={path}")
}

/// Where a URL leads.
enum Leads {
    /// To us, to a host that we open, or to no server.
    Here,
    /// Past retold.
    Elsewhere(Url),
    /// Clients may read it in another way than we do.
    Unknown,
}

/// What stands in the place of the host of a URL that cannot be read.
const UNREADABLE: &str = "an-unreadable-address";

/// The host of a URL, with its port.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or(UNREADABLE);
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hyper::http::Method;
    use retold::model::NamedUrl;

    use super::*;
    use crate::intercept::NamedHosts;

    fn inside(upstream: &str, url: &str) -> String {
        let named = [
            ("openai", "http://h.example:8000/v1"),
            ("azure", "https://az.example?api-version=1"),
            ("other", "http://h.example:8000/v1/other"),
            ("api.example.test", "http://127.0.0.1:9"),
        ];
        let named = named.map(|(name, url)| (name.to_owned(), NamedUrl::given(url)));
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
    fn a_client_gets_urls_below_the_one_that_it_asked() {
        let base = "http://127.0.0.1:1/token/t/run/a".to_owned();
        let here = Here { base, opened: None, cookies: None, interception: None };
        assert_eq!(here.at("/openai/a?b"), "http://127.0.0.1:1/token/t/run/a/openai/a?b");
        let hosts = NamedHosts::from([("b.example".to_owned(), false)]);
        let interception = Interception::new(hosts, false, here.base.clone()).unwrap();
        let interception = Some(Arc::new(interception));
        let here = Here { opened: Some("a.example:8443".to_owned()), interception, ..here };
        assert_eq!(here.at("/a.example/x"), "https://a.example:8443/x");
        assert_eq!(here.at("/b.example?x"), "https://b.example?x");
        assert_eq!(here.at("/api.openai.com/v1"), "https://api.openai.com/v1");
        assert_eq!(here.at("/openai/a"), "http://127.0.0.1:1/token/t/run/a/openai/a");
        assert_eq!(here.at("/openai/_led/a"), "http://127.0.0.1:1/token/t/run/a/openai/_led/a");
        assert_eq!(here.at("/api.openai.com/_led/v1"), "https://api.openai.com/v1");
    }

    #[test]
    fn a_cookie_belongs_to_its_upstream() {
        let own = |cookie| cookie_at(cookie, "/token/t/openai");
        assert_eq!(own("a=b"), "a=b; Path=/token/t/openai");
        assert_eq!(
            own("a=b; Path=/; Domain=h.example; Secure; HttpOnly; Max-Age=9"),
            "a=b; HttpOnly; Max-Age=9; Path=/token/t/openai"
        );
    }

    #[test]
    fn no_key_is_recorded_in_a_url() {
        let kept = |name, value| without_secrets(name, value).unwrap_or_default();
        assert_eq!(
            kept("location", "https://u:p@h.example/a?key=k&b=c#token=t"),
            "https://h.example/a?b=c"
        );
        assert_eq!(kept("location", "/openai/a?sig=k"), "/openai/a");
        assert_eq!(
            kept("link", "</openai/a?api_key=k&p=2>; rel=\"next\", <https://u:p@h/x>; rel=prev"),
            "</openai/a?p=2>; rel=\"next\", <https://h/x>; rel=prev"
        );
        assert_eq!(without_secrets("etag", "https://u:p@h"), None);
    }
}
