//! From the address of a request to the run that it belongs to, and who may send requests.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use hyper::http::HeaderMap;
use hyper::http::uri::Authority;
use retold::prompt::hash_of;
use serde_json::Value;

use crate::intercept::Interception;
use crate::session::Session;

/// Names the run that a request belongs to, where a proxy has several; not forwarded.
const RUN: &str = "x-retold-run";

/// Holds the token of a server that has one; not forwarded.
const TOKEN: &str = "x-retold-token";

/// The longest name of a run.
const LONGEST_RUN: usize = 100;

/// The least characters of a token.
const SHORTEST_TOKEN: usize = 16;

/// What a server serves, and to whom.
pub struct Front {
    /// The runs.
    pub runs: Arc<dyn Runs>,
    /// The names of the upstreams; `None` if every name is taken, because nothing is asked.
    pub upstreams: Option<Vec<String>>,
    /// What a client has to know; without one, clients are on this machine.
    pub token: Option<Token>,
    /// Opens connections to named hosts, for a program that has them written into it.
    pub interception: Option<Arc<Interception>>,
}

/// What comes later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The runs of a server.
pub trait Runs: Send + Sync {
    /// The session of a run, by its name, if the request has one.
    fn session<'a>(&'a self, name: Option<&'a str>) -> Later<'a, Result<Arc<Session>, NoRun>>;

    /// Finishes a run, and says what happened in it.
    fn finish<'a>(&'a self, name: Option<&'a str>) -> Later<'a, Result<Value, NoRun>>;
}

/// Why a request belongs to no run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoRun {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, and what to do.
    pub message: String,
}

impl NoRun {
    /// Such a reason.
    pub fn new(status: u16, message: String) -> Self {
        NoRun { status, message }
    }
}

/// One run, which ends with its command.
struct OneRun(Arc<Session>);

impl Runs for OneRun {
    fn session<'a>(&'a self, name: Option<&'a str>) -> Later<'a, Result<Arc<Session>, NoRun>> {
        let found = match name {
            None => Ok(self.0.clone()),
            Some(_) => {
                let said = "this server has one run, without a name: `retold proxy` has several";
                Err(NoRun::new(404, said.to_owned()))
            }
        };
        Box::pin(ready(found))
    }

    fn finish<'a>(&'a self, _name: Option<&'a str>) -> Later<'a, Result<Value, NoRun>> {
        let said = "this run is finished when its command has ended".to_owned();
        Box::pin(ready(Err(NoRun::new(400, said))))
    }
}

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
    fn is(&self, given: Option<&str>) -> bool {
        given.is_some_and(|given| hash_of(given.as_bytes()) == self.0)
    }
}

/// Where a request goes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The name of its run.
    pub(crate) run: Option<String>,
    /// The name of the upstream.
    pub(crate) upstream: String,
    /// The path below the upstream.
    pub(crate) path: String,
}

/// Why a request is not let in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotLetIn {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: &'static str,
}

impl Front {
    /// Serves one run, to clients on this machine.
    pub fn of(session: Arc<Session>, upstreams: Vec<String>) -> Self {
        let (upstreams, token) = (Some(upstreams), None);
        Front { runs: Arc::new(OneRun(session)), upstreams, token, interception: None }
    }

    /// Reads an address: `/token/TOKEN/run/NAME/UPSTREAM/PATH`, where token and run may be left out or
    /// be in headers.
    pub(crate) fn address(&self, path: &str, headers: &HeaderMap) -> Result<Address, NotLetIn> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let mut rest = path.strip_prefix('/').unwrap_or(path);
        if let Some(token) = &self.token {
            let mut given = header(TOKEN);
            if let Some(after) = rest.strip_prefix("token/") {
                let (in_path, below) = after.split_once('/').unwrap_or((after, ""));
                (given, rest) = (Some(in_path), below);
            }
            if !token.is(given) {
                return Err(NotLetIn {
                    status: 401,
                    code: "retold_token",
                    message: "this retold wants its token: in the header X-Retold-Token, or before the path, \
                              as in /token/TOKEN/openai",
                });
            }
        } else if !is_for_this_machine(header("host")) {
            // A page from the web may have a name that leads here.
            return Err(NotLetIn {
                status: 403,
                code: "retold_host",
                message: "retold serves requests to 127.0.0.1 and localhost, and none to other names",
            });
        }
        let mut run = header(RUN).map(str::to_owned);
        if let Some(after) = rest.strip_prefix("run/") {
            let (name, below) = after.split_once('/').unwrap_or((after, ""));
            run = Some(name.to_owned());
            rest = below;
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_name = |name: &str| {
            (1..=LONGEST_RUN).contains(&name.len())
                && name.chars().all(fits)
                && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        if run.as_deref().is_some_and(|run| !is_name(run)) {
            return Err(NotLetIn {
                status: 400,
                code: "retold_run",
                message: "the name of a run has 1 to 100 letters, digits, - . _",
            });
        }
        let (upstream, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        Ok(Address { run, upstream: upstream.to_owned(), path: path.to_owned() })
    }
}

/// Whether a request names this machine as such: by an address, or as localhost. Older clients name
/// none.
fn is_for_this_machine(host: Option<&str>) -> bool {
    let Some(authority) = host.map(str::parse::<Authority>) else { return true };
    let Ok(authority) = authority else { return false };
    let host = authority.host().trim_matches(['[', ']']);
    host.parse::<std::net::IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(token: Option<&str>) -> Front {
        struct None;
        impl Runs for None {
            fn session<'a>(&'a self, _: Option<&'a str>) -> Later<'a, Result<Arc<Session>, NoRun>> {
                Box::pin(ready(Err(NoRun::new(404, String::new()))))
            }
            fn finish<'a>(&'a self, _: Option<&'a str>) -> Later<'a, Result<Value, NoRun>> {
                Box::pin(ready(Err(NoRun::new(404, String::new()))))
            }
        }
        let token = token.map(|token| Token::new(token).unwrap());
        Front { runs: Arc::new(None), upstreams: Option::None, token, interception: Option::None }
    }

    fn read(front: &Front, path: &str, set: &[(&'static str, &str)]) -> Result<String, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in set {
            headers.insert(*name, value.parse().unwrap());
        }
        let address = front.address(path, &headers).map_err(|refused| refused.status)?;
        let Address { run, upstream, path } = address;
        Ok(format!("{} {upstream} {path}", run.unwrap_or_default()))
    }

    #[test]
    fn an_address_has_a_run_and_an_upstream() {
        let front = front(None);
        let plain = |path| read(&front, path, &[]);
        assert_eq!(plain("/openai/chat/completions").unwrap(), " openai /chat/completions");
        assert_eq!(plain("/run/a-1/openai/x").unwrap(), "a-1 openai /x");
        assert_eq!(plain("/openai").unwrap(), " openai ");
        let named = |path, run| read(&front, path, &[("x-retold-run", run)]);
        assert_eq!(named("/openai/x", "b").unwrap(), "b openai /x");
        assert_eq!(named("/run/a/openai/x", "b").unwrap(), "a openai /x");
        for wrong in ["/run//openai", "/run/../openai", "/run/a%2fb/openai"] {
            assert_eq!(plain(wrong), Err(400), "{wrong}");
        }
    }

    #[test]
    fn names_that_lead_here_from_elsewhere_are_refused() {
        let front = front(None);
        let host = |host| read(&front, "/openai/x", &[("host", host)]).map(drop);
        for ours in
            ["127.0.0.1:8377", "[::1]:8377", "localhost", "retold.localhost:1", "192.168.0.7"]
        {
            assert_eq!(host(ours), Ok(()), "{ours}");
        }
        for other in ["rebound.example:8377", "127.0.0.1.evil.example", ""] {
            assert_eq!(host(other), Err(403), "{other}");
        }
    }

    #[test]
    fn a_token_is_wanted_where_there_is_one() {
        let token = "0123456789abcdef";
        let front = front(Some(token));
        let header = |token| {
            read(&front, "/openai/x", &[("x-retold-token", token), ("host", "box.example")])
        };
        assert_eq!(header(token).unwrap(), " openai /x");
        assert_eq!(header("0123456789abcdee"), Err(401));
        assert_eq!(read(&front, "/openai/x", &[]), Err(401));
        let in_path = |path: &str| read(&front, path, &[]);
        assert_eq!(in_path(&format!("/token/{token}/run/a/openai/x")).unwrap(), "a openai /x");
        assert_eq!(in_path("/token/wrong/run/a/openai/x"), Err(401));
        assert!(Token::new("short").is_err() && Token::new("0123456789abcde/").is_err());
    }
}
