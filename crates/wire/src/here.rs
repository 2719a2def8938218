//! How a client addresses retold, and the URLs in answers as it gets them.

use std::sync::Arc;

use hyper::Response;
use hyper::http::HeaderValue;
use hyper::http::header::SET_COOKIE;
use reqwest::Url;
use retold::escaping::printable;

use crate::addresses::{ELSEWHERE, HTTPS, is_host, strip_led};
use crate::heads::ReplayMark;
use crate::intercept::Interception;
use crate::locations::{SEVERAL, translate_all};
use crate::origins::{OriginPlace, Origins};
use crate::outlet::Outgoing;
use crate::session::Session;
use crate::upstream::join;

/// Headers whose URLs are about an answer, and not for a client's next request.
const ABOUT: &[&str] = &["content-location", SEVERAL];

/// How a client addresses us.
pub(crate) struct Here {
    /// The URL before `/UPSTREAM/PATH`.
    pub(crate) base: String,
    /// The host that it asked, with its port, if its connection was opened.
    pub(crate) opened: Option<String>,
    /// The path of cookies that the upstream sets, which belong to it alone; `None` where it has a host of its own.
    pub(crate) cookies: Option<String>,
    /// Connections to hosts, if they are not left alone.
    pub(crate) interception: Option<Arc<Interception>>,
    /// The server that it asked, if its transport sends us requests for others.
    pub(crate) asked: Option<ServerAsked>,
}

/// The server that a request was for, and the others that the program may be led to.
pub(crate) struct ServerAsked {
    pub(crate) place: OriginPlace,
    pub(crate) origins: Arc<Origins>,
}

impl Here {
    /// The headers of an answer as the client gets them: a path inside becomes a URL below the one that it asked. In an
    /// answer that was recorded, URLs that lead elsewhere lead to us as well, where they are refused: only a server that is
    /// asked now may lead a program there, which is noted.
    pub(crate) fn outward(&self, response: &mut Response<Outgoing>, session: &Session) {
        let is_recorded = response.extensions().get::<ReplayMark>().is_some();
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
            let is_followed = redirects || !ABOUT.contains(&name.as_str());
            self.lead(url, is_recorded, is_followed, session)
        });
    }

    /// A URL in an answer, or a path inside, as the client gets it; `None` if that is as it is.
    pub(crate) fn lead(
        &self,
        url: &str,
        is_recorded: bool,
        is_followed: bool,
        session: &Session,
    ) -> Option<String> {
        if is_path(url) {
            return Some(self.at(url));
        }
        let url = match self.elsewhere(url) {
            Leads::Here => return None,
            Leads::Elsewhere(url) => Some(url),
            Leads::Unknown => None,
        };
        // A transport that sends us all requests sends us this one, too.
        if is_recorded && self.asked.is_none() {
            let known = url.as_ref().zip(session.upstreams.as_ref());
            if let Some(path) = known.and_then(|(url, all)| all.place_of(url, "")) {
                return Some(self.at(&path));
            }
            let (host, rest) = url.as_ref().map_or((UNREADABLE.to_owned(), String::new()), |url| {
                let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
                (host_of(url), format!("{}{query}", url.path()))
            });
            return Some(format!("{}/{ELSEWHERE}/{host}{rest}", self.base));
        }
        let host = url.as_ref().map_or_else(|| UNREADABLE.replace('-', " "), host_of);
        if is_followed {
            session.counts.note_host(printable(&host, 100));
        }
        None
    }

    /// A path inside, as the client writes it.
    fn at(&self, path: &str) -> String {
        let (upstream, rest) = match path[1..].find(['/', '?', '#']) {
            Some(at) => path[1..].split_at(at),
            None => (&path[1..], ""),
        };
        // To the client, a host that is opened is another origin.
        let (below, _) = strip_led(rest);
        if let Some(ServerAsked { place, origins }) = &self.asked
            && let Some(url) = place.url(origins, upstream, below)
        {
            return url;
        }
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

    /// Where a URL leads, unless it is a path at this server.
    fn elsewhere(&self, url: &str) -> Leads {
        let Ok(ours) = Url::parse("http://retold.invalid/") else { return Leads::Unknown };
        let Some(url) = join(&ours, url) else { return Leads::Unknown };
        // A relative URL leads to us.
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

/// The placeholder for the host of a URL that cannot be read.
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
    use super::*;
    use crate::intercept::NamedHosts;

    #[test]
    fn a_client_gets_urls_below_the_one_that_it_asked() {
        let base = "http://127.0.0.1:1/token/t/run/a".to_owned();
        let here = Here { base, opened: None, cookies: None, interception: None, asked: None };
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
}
