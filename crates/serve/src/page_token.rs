//! Who may read the page on this machine: whoever has the address that was printed.

use std::net::SocketAddr;

use hyper::http::{HeaderMap, Uri, header};
use retold_wire::{Secret, TOKEN_HEADER, Token};

use crate::query::Query;

/// The key in the query of the first address.
const KEY: &str = "token";

/// What an address that was printed has, and afterwards a cookie of the browser that opened it.
pub struct PageToken {
    token: Token,
    /// The name of the cookie: cookies of one host are sent to all of its ports.
    cookie: String,
    url: String,
    /// The cookie that the first answer sets.
    kept: String,
}

/// How a request is received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It knows the token.
    Known,
    /// It has the token in its address: it is sent on to the same address without it, with a cookie.
    First { to: String },
    /// It does not know the token.
    Unknown,
}

impl PageToken {
    /// The token of a page at an address.
    pub fn new(secret: &Secret, address: SocketAddr) -> Self {
        let (text, cookie) = (secret.text(), format!("retold-token-{}", address.port()));
        PageToken {
            token: secret.token(),
            url: format!("http://{address}/?{KEY}={text}"),
            kept: format!("{cookie}={text}; Path=/; HttpOnly; SameSite=Strict"),
            cookie,
        }
    }

    /// The address to open.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The cookie that the first answer sets.
    pub(crate) fn new_cookie(&self) -> &str {
        &self.kept
    }

    /// Whether a request may be answered. A browser sends the cookie, and a program the header.
    pub(crate) fn admission(&self, uri: &Uri, headers: &HeaderMap) -> Admission {
        let query = Query::new(uri.query());
        if let Some(given) = query.get(KEY) {
            return match self.token.is(Some(given)) {
                true => Admission::First { to: without_token(uri) },
                false => Admission::Unknown,
            };
        }
        let in_header = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut pairs =
            cookies.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(';'));
        let is_known = |pair: &str| {
            let pair = pair.trim().split_once('=');
            pair.is_some_and(|(name, value)| name == self.cookie && self.token.is(Some(value)))
        };
        match self.token.is(in_header) || pairs.any(is_known) {
            true => Admission::Known,
            false => Admission::Unknown,
        }
    }
}

/// The same address without the token. It has one slash at its beginning: two would name another server.
fn without_token(uri: &Uri) -> String {
    let rest = uri.query().unwrap_or_default().split('&');
    let rest: Vec<&str> =
        rest.filter(|pair| pair.split('=').next() != Some(KEY) && !pair.is_empty()).collect();
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    format!("/{}{query}", uri.path().trim_start_matches(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_cookie_or_header_with_the_token_is_known() {
        let secret = Secret::random().unwrap();
        let page = PageToken::new(&secret, "127.0.0.1:80".parse().unwrap());
        let text = secret.text();
        let asks = |target: &str, headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            page.admission(&target.parse().unwrap(), &map)
        };
        let first = |to: &str| Admission::First { to: to.to_owned() };
        assert_eq!(page.url(), format!("http://127.0.0.1:80/?token={text}"));
        assert_eq!(asks(&format!("/?token={text}"), &[]), first("/"));
        let long = format!("/run/a%2Fb?q=x%26y&token={text}&at=3");
        assert_eq!(asks(&long, &[]), first("/run/a%2Fb?q=x%26y&at=3"));
        assert_eq!(asks(&format!("//evil.example/?token={text}"), &[]), first("/evil.example/"));
        let cookie = format!("other=1; retold-token-80={text}");
        assert_eq!(asks("/", &[("cookie", &cookie)]), Admission::Known);
        assert_eq!(asks("/", &[("x-retold-token", text)]), Admission::Known);
        assert!(page.new_cookie().ends_with("; Path=/; HttpOnly; SameSite=Strict"));
        for (target, name, value) in [
            ("/", "accept", "text/html"),
            ("/?token=", "accept", "text/html"),
            ("/?token=0123456789abcdef0123456789abcdef", "cookie", cookie.as_str()),
            ("/", "cookie", &format!("retold-token-81={text}")),
            ("/", "cookie", &format!("retold-token-80={}", &text[1..])),
            ("/", "x-retold-token", &text[1..]),
        ] {
            assert_eq!(
                asks(target, &[(name, value)]),
                Admission::Unknown,
                "{target} {name}: {value}"
            );
        }
    }
}
