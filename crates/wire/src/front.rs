//! From the address of a request to the run that it belongs to, and who may send requests.

use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use hyper::http::{HeaderMap, Uri};
use serde_json::Value;

use crate::body::Bodies;
use crate::intercept::Interception;
use crate::origins::{OriginPlace, Origins};
use crate::reach::{Reach, only};
use crate::refusal::NotLetIn;
use crate::session::Session;
use crate::token::Token;

/// Names the run that a request belongs to, where a proxy has several; not forwarded.
const RUN: &str = "x-retold-run";

/// Holds the token of a server that has one; not forwarded.
pub const TOKEN_HEADER: &str = "x-retold-token";

/// The longest name of a run.
const LONGEST_RUN: usize = 100;

/// The runs that a server serves, and its clients.
pub struct Front {
    /// The runs.
    pub runs: Arc<dyn Runs>,
    /// The names of the upstreams; `None` if every name is taken, because nothing is asked.
    pub upstreams: Option<Vec<String>>,
    /// Whose requests are answered.
    pub reach: Reach,
    /// The token that a client has to know.
    pub token: Option<Token>,
    /// The memory that the bodies of requests share.
    pub bodies: Bodies,
    /// Opens connections to named hosts, for a program that has them written into it.
    pub interception: Option<Arc<Interception>>,
    /// The upstreams of a program whose transport sends us requests for other servers; `None` for all other programs.
    pub origins: Option<Arc<Origins>>,
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
    /// The problem, and the remedy.
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

/// Where a request goes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The name of its run.
    pub(crate) run: Option<String>,
    /// The name of the upstream.
    pub(crate) upstream: String,
    /// The path below the upstream.
    pub(crate) path: String,
    /// The server that the program asked, if its transport says so.
    pub(crate) asked: Option<OriginPlace>,
}

impl Front {
    /// Serves one run, to clients on this machine.
    pub fn new(session: Arc<Session>, upstreams: Vec<String>) -> Self {
        let (runs, upstreams) = (Arc::new(OneRun(session)), Some(upstreams));
        Front {
            bodies: Bodies::default(),
            reach: Reach::this_machine(),
            token: None,
            interception: None,
            origins: None,
            runs,
            upstreams,
        }
    }

    /// Reads an address: `/token/TOKEN/run/NAME/UPSTREAM/PATH`, where token and run may be left out or
    /// be in headers.
    pub(crate) fn address(&self, uri: &Uri, headers: &HeaderMap) -> Result<Address, NotLetIn> {
        self.reach.check(uri, headers).map_err(NotLetIn::wrong_site)?;
        let path = uri.path();
        let mut rest = path.strip_prefix('/').unwrap_or(path);
        if let Some(token) = &self.token {
            let given = match rest.strip_prefix("token/") {
                Some(after) => {
                    let (in_path, below) = after.split_once('/').unwrap_or((after, ""));
                    rest = below;
                    Some(in_path)
                }
                None => only(headers, TOKEN_HEADER).ok().flatten(),
            };
            if !token.is(given) {
                return Err(NotLetIn::new(401, "retold_token", NO_TOKEN));
            }
        }
        let mut run = named_run(headers)?;
        if let Some(after) = rest.strip_prefix("run/") {
            let (name, below) = after.split_once('/').unwrap_or((after, ""));
            rest = below;
            if run.is_some_and(|run| run != name) {
                return Err(NotLetIn::new(400, "retold_run", OTHER_RUN));
            }
            run = Some(name);
        }
        if run.is_some_and(|run| !is_name(run)) {
            return Err(NotLetIn::new(400, "retold_run", NOT_A_NAME));
        }
        let run = run.map(str::to_owned);
        if let Some(origins) = &self.origins
            && let Some(place) = origins.place(headers, path)?
        {
            let OriginPlace { upstream, path, .. } = place.clone();
            return Ok(Address { run, upstream, path, asked: Some(place) });
        }
        let (upstream, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (upstream, path) = (upstream.to_owned(), path.to_owned());
        Ok(Address { run, upstream, path, asked: None })
    }

    /// The session of a request whose connection was let in: one that was opened.
    pub(crate) async fn opened_session(
        &self,
        headers: &HeaderMap,
    ) -> Result<Arc<Session>, NotLetIn> {
        let run = named_run(headers)?;
        let session = self.runs.session(run).await;
        session.map_err(|NoRun { status, message }| NotLetIn::new(status, "retold_run", message))
    }
}

const NO_TOKEN: &str = "this retold wants its token: in the header X-Retold-Token, or before the path, as in \
     /token/TOKEN/openai. The base URLs and RETOLD_URL that a command of retold sets have it";

const NOT_A_NAME: &str = "the name of a run has 1 to 100 letters, digits, - . _";

const OTHER_RUN: &str = "the path and the header X-Retold-Run name different runs";

/// The run that a header names.
fn named_run(headers: &HeaderMap) -> Result<Option<&str>, NotLetIn> {
    let run = only(headers, RUN);
    run.map_err(|said| NotLetIn::new(400, "retold_run", format!("X-Retold-Run: {said}")))
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    (1..=LONGEST_RUN).contains(&name.len())
        && name.chars().all(fits)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
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
        let (reach, upstreams) = (Reach::this_machine(), Option::None);
        let bodies = Bodies::default();
        let (interception, origins) = (Option::None, Option::None);
        Front { runs: Arc::new(None), upstreams, reach, token, bodies, interception, origins }
    }

    fn read(front: &Front, path: &str, set: &[(&'static str, &str)]) -> Result<String, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in set {
            headers.append(*name, value.parse().unwrap());
        }
        let address =
            front.address(&path.parse().unwrap(), &headers).map_err(|refused| refused.status)?;
        let Address { run, upstream, path, asked: _ } = address;
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
        assert_eq!(named("/run/a/openai/x", "a").unwrap(), "a openai /x");
        assert_eq!(named("/run/a/openai/x", "b"), Err(400));
        for wrong in ["", "a/b", "\u{fc}", "b,c", "../b"] {
            assert_eq!(named("/openai/x", wrong), Err(400), "{wrong}");
            assert_eq!(named("/run/a/openai/x", wrong), Err(400), "{wrong}");
        }
        let twice = [("x-retold-run", "a"), ("x-retold-run", "a")];
        assert_eq!(read(&front, "/openai/x", &twice), Err(400));
        for wrong in ["/run//openai", "/run/../openai", "/run/a%2fb/openai"] {
            assert_eq!(plain(wrong), Err(400), "{wrong}");
        }
    }

    #[test]
    fn a_token_is_wanted_where_there_is_one() {
        let token = "0123456789abcdef";
        let front = front(Some(token));
        let header =
            |token| read(&front, "/openai/x", &[("x-retold-token", token), ("host", "localhost")]);
        assert_eq!(header(token).unwrap(), " openai /x");
        assert_eq!(header("0123456789abcdee"), Err(401));
        assert_eq!(read(&front, "/openai/x", &[]), Err(401));
        let in_path = |path: &str| read(&front, path, &[]);
        assert_eq!(in_path(&format!("/token/{token}/run/a/openai/x")).unwrap(), "a openai /x");
        assert_eq!(in_path("/token/wrong/run/a/openai/x"), Err(401));
        let twice = [("x-retold-token", token), ("x-retold-token", token)];
        assert_eq!(read(&front, "/openai/x", &twice), Err(401));
        // Knowing it does not make a page of another site a client.
        let page = [("x-retold-token", token), ("origin", "http://localhost:3000")];
        assert_eq!(read(&front, "/openai/x", &page), Err(403));
    }
}
