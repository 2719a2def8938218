//! What clients of a server have to know.

use std::net::SocketAddr;

use data_encoding::{BASE64, HEXLOWER};
use hyper::http::{HeaderMap, header};
use retold::prompt::hash_of;

use crate::reach::only;

/// The least characters of a token.
const SHORTEST_TOKEN: usize = 16;

/// The random bytes of a secret.
const SECRET: usize = 16;

/// The user that a proxy's URL names; only the password counts.
const USER: &str = "retold";

/// A token, of which only a hash is kept.
pub struct Token([u8; 32]);

/// Why a text is not a token.
#[derive(Debug, thiserror::Error)]
#[error(
    "a token has at least {SHORTEST_TOKEN} letters, digits, - . _ ~ (`openssl rand -hex 16` makes one)"
)]
pub struct TokenError;

impl Token {
    /// A token; letters and digits that need no escapes in paths.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        if text.len() < SHORTEST_TOKEN || !text.chars().all(fits) {
            return Err(TokenError);
        }
        Ok(Token(hash_of(text.as_bytes())))
    }

    /// Whether a client knows it. Comparing hashes says nothing about how much of it was right.
    pub fn is(&self, given: Option<&str>) -> bool {
        given.is_some_and(|given| hash_of(given.as_bytes()) == self.0)
    }

    /// Whether a client that takes the server for its proxy knows it.
    pub(crate) fn is_of_proxy(&self, headers: &HeaderMap) -> bool {
        let given = only(headers, header::PROXY_AUTHORIZATION.as_str()).ok().flatten();
        let basic = given.and_then(|given| given.split_once(' '));
        let packed = basic.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
        let unpacked = packed.and_then(|(_, it)| BASE64.decode(it.trim().as_bytes()).ok());
        let unpacked = unpacked.and_then(|bytes| String::from_utf8(bytes).ok());
        self.is(unpacked.as_deref().and_then(|it| it.split_once(':')).map(|(_, password)| password))
    }
}

/// A token that a command makes up. It is in URLs that only its program or its user gets, and is shown
/// nowhere else: it has no `Debug`.
pub struct Secret(String);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SECRET];
        getrandom::fill(&mut bytes)?;
        Ok(Secret(HEXLOWER.encode(&bytes)))
    }

    /// What clients have to know.
    pub fn token(&self) -> Token {
        Token(hash_of(self.0.as_bytes()))
    }

    /// Its text, for the program alone.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The URL below which a program finds its upstreams.
    pub fn base_url(&self, server: SocketAddr) -> String {
        format!("http://{server}/token/{}", self.0)
    }

    /// The URL of the proxy for a program whose hosts are written into it.
    pub fn proxy_url(&self, server: SocketAddr) -> String {
        format!("http://{USER}:{}@{server}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_length_and_no_escapes() {
        assert!(Token::new("0123456789abcdef").is_ok());
        assert!(Token::new("short").is_err() && Token::new("0123456789abcde/").is_err());
    }

    #[test]
    fn the_urls_of_a_secret_have_it() {
        let (secret, server) = (Secret::random().unwrap(), "127.0.0.1:80".parse().unwrap());
        let (base, proxy) = (secret.base_url(server), secret.proxy_url(server));
        let given = base.strip_prefix("http://127.0.0.1:80/token/").unwrap();
        assert!(given.len() == 2 * SECRET && secret.token().is(Some(given)));
        assert_eq!(proxy, format!("http://retold:{given}@127.0.0.1:80"));
        assert!(!secret.token().is(Some(&given[1..])) && !secret.token().is(None));
        assert!(!Secret::random().unwrap().token().is(Some(given)), "each command has its own");
        let is_let_in = |authorizations: &[String]| {
            let mut headers = HeaderMap::new();
            for given in authorizations {
                headers.append(header::PROXY_AUTHORIZATION, given.parse().unwrap());
            }
            secret.token().is_of_proxy(&headers)
        };
        let basic = |text: &str| format!("Basic {}", BASE64.encode(text.as_bytes()));
        let right = basic(&format!("retold:{given}"));
        assert!(
            is_let_in(std::slice::from_ref(&right))
                && is_let_in(&[right.replace("Basic", "basic")])
        );
        for wrong in
            [basic("retold:"), basic(given), "Basic !".to_owned(), format!("Bearer {given}")]
        {
            assert!(!is_let_in(&[wrong]));
        }
        assert!(!is_let_in(&[]) && !is_let_in(&[right.clone(), right]));
    }
}
