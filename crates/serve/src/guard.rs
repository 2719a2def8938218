//! Which requests are answered at all. A page on loopback can be reached by every page that a
//! browser has open: another site must neither read it under a name of its own (DNS rebinding) nor
//! have it read by the browser.

use std::net::SocketAddr;

use hyper::http::{HeaderMap, Method, header};

/// Under which names the server may be asked.
#[derive(Debug, Clone)]
pub struct Reach {
    address: SocketAddr,
    /// Names besides the address itself, without a port.
    names: Vec<String>,
}

/// A request that is not answered: status and reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) reason: String,
}

fn refused(status: u16, reason: impl Into<String>) -> Result<(), Refused> {
    Err(Refused { status, reason: reason.into() })
}

impl Reach {
    /// A server at an address. At a loopback address, its names are those of loopback; elsewhere,
    /// they are the address itself and `names`.
    pub fn of(address: SocketAddr, names: &[String]) -> Self {
        let mut names: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        names.push(match address {
            SocketAddr::V4(v4) => v4.ip().to_string(),
            SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        });
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        Reach { address, names }
    }

    /// Whether a request may be answered.
    pub(crate) fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refused> {
        if method != Method::GET && method != Method::HEAD {
            return refused(405, "this page is read-only: it answers GET and HEAD");
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next().map(|host| host.to_str()), hosts.next()) {
            (Some(Ok(host)), None) => host,
            _ => return refused(400, "a request names one host"),
        };
        if !self.is_ours(host) {
            let message = format!("this server is not {}", retold::inert::inert(host, 100));
            return refused(403, message);
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            if origin.is_none_or(|origin| !origin.eq_ignore_ascii_case(host)) {
                return refused(403, "another site may not read this page");
            }
        }
        // Links from elsewhere are followed, but nothing is loaded into another site.
        let says = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_foreign = matches!(says("sec-fetch-site"), Some("cross-site" | "same-site"));
        if is_foreign && says("sec-fetch-mode") != Some("navigate") {
            return refused(403, "another site may not read this page");
        }
        Ok(())
    }

    /// Whether a `Host` header names this server.
    fn is_ours(&self, host: &str) -> bool {
        let port = self.address.port();
        let (name, given) = match host.rsplit_once(':') {
            // The colons of an IPv6 address are in brackets.
            Some((name, given)) if !given.ends_with(']') => (name, given.parse().ok()),
            _ => (host, Some(80)),
        };
        given == Some(port) && self.names.contains(&name.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&'static str, &str)]) -> Result<(), u16> {
        let reach = Reach::of("127.0.0.1:4242".parse().unwrap(), &[]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        reach.check(&Method::GET, &map).map_err(|refused| refused.status)
    }

    #[test]
    fn only_names_of_loopback_are_answered() {
        for host in ["127.0.0.1:4242", "localhost:4242", "LocalHost:4242", "[::1]:4242"] {
            assert_eq!(asked(&[("host", host)]), Ok(()), "{host}");
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
            assert_eq!(asked(&[("host", host)]), Err(403), "{host}");
        }
        assert_eq!(asked(&[]), Err(400));
        assert_eq!(asked(&[("host", "localhost:4242"), ("host", "localhost:4242")]), Err(400));
    }

    #[test]
    fn other_sites_are_refused_and_links_from_them_are_not() {
        let host = ("host", "localhost:4242");
        assert_eq!(asked(&[host, ("origin", "http://localhost:4242")]), Ok(()));
        for origin in
            ["null", "http://evil.example", "https://localhost:4242", "http://127.0.0.1:4242"]
        {
            assert_eq!(asked(&[host, ("origin", origin)]), Err(403), "{origin}");
        }
        let from = |site, mode| asked(&[host, ("sec-fetch-site", site), ("sec-fetch-mode", mode)]);
        assert_eq!(from("cross-site", "navigate"), Ok(()));
        assert_eq!(from("cross-site", "no-cors"), Err(403));
        assert_eq!(from("same-site", "cors"), Err(403));
        assert_eq!(from("same-origin", "cors"), Ok(()));
    }

    #[test]
    fn nothing_but_reading_is_asked() {
        let reach = Reach::of("127.0.0.1:1".parse().unwrap(), &[]);
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
            let refused = reach.check(&method, &HeaderMap::new()).unwrap_err();
            assert_eq!(refused.status, 405, "{method}");
        }
    }

    #[test]
    fn a_server_for_others_has_the_names_that_it_was_given() {
        let reach = Reach::of("192.0.2.7:80".parse().unwrap(), &["Lab.example".to_owned()]);
        for host in ["lab.example", "lab.example:80", "192.0.2.7"] {
            assert!(reach.is_ours(host), "{host}");
        }
        assert!(!reach.is_ours("localhost") && !reach.is_ours("evil.example"));
    }
}
