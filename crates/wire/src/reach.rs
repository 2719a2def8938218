//! Whose requests a server answers at all. A server on loopback can be reached by every page that a
//! browser has open: another site must neither ask it under a name of its own (DNS rebinding) nor
//! have the browser ask it.

use std::net::{IpAddr, SocketAddr};

use hyper::http::uri::Authority;
use hyper::http::{HeaderMap, Uri, header};
use retold::escaping::printable;

/// Who may ask a server, and under which names.
#[derive(Debug, Clone)]
pub struct Reach {
    names: ServerNames,
    /// Whether links from other sites are followed.
    links: bool,
}

/// The names of a server.
#[derive(Debug, Clone)]
enum ServerNames {
    /// Any: its clients know a token.
    Any,
    /// Addresses of loopback and localhost, which no other site can have as its name.
    ThisMachine,
    /// These names, in lower case, at this port.
    These(Vec<String>, u16),
}

/// A request that is not answered.
#[derive(Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The HTTP status.
    pub status: u16,
    /// The reason.
    pub reason: String,
}

fn refuse<T>(status: u16, reason: impl Into<String>) -> Result<T, RefusedRequest> {
    Err(RefusedRequest { status, reason: reason.into() })
}

impl Reach {
    /// A page at an address, to which other sites may have links. At a loopback address, its names
    /// are those of loopback; elsewhere, they are the address itself and `names`.
    pub fn of_page(address: SocketAddr, names: &[String]) -> Self {
        let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.push(match address {
            SocketAddr::V4(v4) => v4.ip().to_string(),
            SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        });
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        Reach { names: ServerNames::These(names, address.port()), links: true }
    }

    /// A server for programs on this machine, which may find it at another port.
    pub fn this_machine() -> Self {
        Reach { names: ServerNames::ThisMachine, links: false }
    }

    /// A server for programs anywhere, which know its token.
    pub fn with_token() -> Self {
        Reach { names: ServerNames::Any, links: false }
    }

    /// Whether a request may be answered.
    ///
    /// # Errors
    /// [`RefusedRequest`].
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), RefusedRequest> {
        let host = match only(headers, header::HOST.as_str()) {
            Ok(host) => host,
            Err(said) => return refuse(400, format!("Host: {said}")),
        };
        // A target in the form that proxies get.
        if let Some(target) = uri.authority()
            && host.is_some_and(|host| !host.eq_ignore_ascii_case(target.as_str()))
        {
            return refuse(400, "the address of the request and its Host name different servers");
        }
        self.names.include(host.or(uri.authority().map(Authority::as_str)))?;
        let said = "a page of another site may not ask retold";
        match only(headers, header::ORIGIN.as_str()) {
            Ok(None) => {}
            Ok(Some(origin)) if is_origin_of(origin, host) => {}
            _ => return refuse(403, said),
        }
        // Browsers send these; an HTTP client that has fetch sends only the mode.
        let (site, mode) = (only(headers, "sec-fetch-site"), only(headers, "sec-fetch-mode"));
        let is_foreign = match site {
            Ok(None) => matches!(mode, Err(_) | Ok(Some("no-cors"))),
            Ok(Some("none" | "same-origin")) => false,
            _ => true,
        };
        if is_foreign && !(self.links && mode == Ok(Some("navigate"))) {
            return refuse(403, said);
        }
        Ok(())
    }
}

/// Whether the origin of a page is the server that it asks.
fn is_origin_of(origin: &str, host: Option<&str>) -> bool {
    let origin = origin.strip_prefix("http://");
    origin.zip(host).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
}

/// The value of a header that a request has once at most.
///
/// # Errors
/// The reason why it cannot be used.
pub(crate) fn only<'a>(
    headers: &'a HeaderMap,
    name: &str,
) -> Result<Option<&'a str>, &'static str> {
    let mut all = headers.get_all(name).iter();
    match (all.next().map(|value| value.to_str()), all.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err("a request has this header only once"),
        (Some(Ok(value)), None) => Ok(Some(value)),
        (Some(Err(_)), None) => Err("its value is not ASCII"),
    }
}

impl ServerNames {
    /// Checks the host that a request names.
    fn include(&self, host: Option<&str>) -> Result<(), RefusedRequest> {
        match (self, host) {
            (ServerNames::Any, _) => Ok(()),
            // Older clients name none; a browser always does.
            (ServerNames::ThisMachine, None) => Ok(()),
            (ServerNames::ThisMachine, Some(host)) if is_this_machine(host) => Ok(()),
            (ServerNames::ThisMachine, Some(_)) => refuse(
                403,
                "retold serves requests to 127.0.0.1 and localhost, and none to other names",
            ),
            (ServerNames::These(..), None) => refuse(400, "a request names one host"),
            (ServerNames::These(names, port), Some(host)) => match is_one_of(names, *port, host) {
                true => Ok(()),
                false => refuse(403, format!("this server is not {}", printable(host, 100))),
            },
        }
    }
}

/// Whether a host is an address of loopback or localhost. Others reach this machine too (0.0.0.0), and pages at
/// them have the browser send nothing that shows a page of another site.
fn is_this_machine(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    if host.contains('@') {
        return false;
    }
    let host = authority.host();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    address.is_ok_and(|address| address.is_loopback())
        || host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
}

fn is_one_of(names: &[String], port: u16, host: &str) -> bool {
    let (name, given) = match host.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((name, given)) if !given.ends_with(']') => (name, given.parse().ok()),
        _ => (host, Some(80)),
    };
    given == Some(port) && names.contains(&name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use hyper::http::HeaderValue;

    use super::*;

    fn asks(reach: &Reach, target: &str, headers: &[(&'static str, &str)]) -> Result<(), u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        reach.check(&target.parse().unwrap(), &map).map_err(|refused| refused.status)
    }

    fn page(headers: &[(&'static str, &str)]) -> Result<(), u16> {
        asks(&Reach::of_page("127.0.0.1:4242".parse().unwrap(), &[]), "/", headers)
    }

    fn wire(headers: &[(&'static str, &str)]) -> Result<(), u16> {
        asks(&Reach::this_machine(), "/openai/x", headers)
    }

    #[test]
    fn a_page_is_answered_under_names_of_loopback_alone() {
        for host in ["127.0.0.1:4242", "localhost:4242", "LocalHost:4242", "[::1]:4242"] {
            assert_eq!(page(&[("host", host)]), Ok(()), "{host}");
        }
        let others = [
            "127.0.0.1",
            "localhost",
            "127.0.0.1:80",
            "evil.example:4242",
            "127.0.0.1.evil:4242",
            "127.0.0.1:4242:4242",
            "",
            ":4242",
            "localhost:4242 ",
            "0.0.0.0:4242",
            "[::1]",
            "localhost:04242x",
        ];
        for host in others {
            assert_eq!(page(&[("host", host)]), Err(403), "{host}");
        }
        assert_eq!(page(&[]), Err(400));
    }

    #[test]
    fn the_wire_is_answered_under_addresses_and_localhost() {
        for ours in ["127.0.0.1:8377", "[::1]:8377", "localhost", "retold.localhost:1", "127.9.9.9"]
        {
            assert_eq!(wire(&[("host", ours)]), Ok(()), "{ours}");
        }
        for other in [
            "rebound.example:8377",
            "0.0.0.0:8377",
            "[::]:8377",
            "192.168.0.7",
            "127.0.0.1.evil.example",
            "",
            "localhost@evil.example",
            "x@127.0.0.1",
        ] {
            assert_eq!(wire(&[("host", other)]), Err(403), "{other}");
        }
        assert_eq!(wire(&[]), Ok(()));
    }

    #[test]
    fn a_request_names_one_host_in_ascii() {
        let host = ("host", "localhost:4242");
        for reach in [Reach::this_machine(), Reach::with_token()] {
            assert_eq!(asks(&reach, "/", &[host, host]), Err(400));
            assert_eq!(asks(&reach, "/", &[("host", "l\u{f6}calhost:4242")]), Err(400));
            assert_eq!(asks(&reach, "http://localhost:4242/", &[host]), Ok(()));
            assert_eq!(asks(&reach, "http://127.0.0.1:4242/", &[host]), Err(400));
        }
        assert_eq!(page(&[host, host]), Err(400));
        assert_eq!(asks(&Reach::this_machine(), "http://evil.example/", &[]), Err(403));
        assert_eq!(asks(&Reach::with_token(), "/", &[("host", "box.example")]), Ok(()));
    }

    #[test]
    fn other_sites_are_refused_and_links_from_them_to_a_page_are_not() {
        let host = ("host", "localhost:4242");
        assert_eq!(page(&[host, ("origin", "http://localhost:4242")]), Ok(()));
        for origin in
            ["null", "http://evil.example", "https://localhost:4242", "http://127.0.0.1:4242"]
        {
            assert_eq!(page(&[host, ("origin", origin)]), Err(403), "{origin}");
            assert_eq!(wire(&[host, ("origin", origin)]), Err(403), "{origin}");
        }
        let from = |site, mode| {
            let headers = [host, ("sec-fetch-site", site), ("sec-fetch-mode", mode)];
            (page(&headers), wire(&headers))
        };
        assert_eq!(from("cross-site", "navigate"), (Ok(()), Err(403)));
        assert_eq!(from("same-origin", "cors"), (Ok(()), Ok(())));
        assert_eq!(from("none", "navigate"), (Ok(()), Ok(())));
        for (site, mode) in [
            ("cross-site", "no-cors"),
            ("same-site", "cors"),
            ("cross-site", "websocket"),
            ("new", "cors"),
        ] {
            assert_eq!(from(site, mode), (Err(403), Err(403)), "{site} {mode}");
        }
    }

    /// Node's `fetch` sends a mode, and neither an origin nor a site.
    #[test]
    fn a_program_that_has_fetch_is_not_a_page() {
        let host = ("host", "127.0.0.1:4242");
        assert_eq!(wire(&[host, ("sec-fetch-mode", "cors")]), Ok(()));
        assert_eq!(wire(&[host, ("sec-fetch-mode", "no-cors")]), Err(403));
    }

    #[test]
    fn a_page_for_others_has_the_names_that_it_was_given() {
        let reach = Reach::of_page("192.0.2.7:80".parse().unwrap(), &["Lab.example".to_owned()]);
        for host in ["lab.example", "lab.example:80", "192.0.2.7"] {
            assert_eq!(asks(&reach, "/", &[("host", host)]), Ok(()), "{host}");
        }
        for host in ["localhost", "evil.example"] {
            assert_eq!(asks(&reach, "/", &[("host", host)]), Err(403), "{host}");
        }
    }
}
