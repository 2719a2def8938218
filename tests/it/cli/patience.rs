//! The configs of the five documents, unchanged, with the kinds of models in turn: the servers refuse what the real APIs refuse, limit
//! how much is asked, and are overloaded now and then. Nothing fails that a patient program would have got.
//!
//! The documents of the public goods games and of the deliberation come with configs, which are not part of this
//! repository. Those of the society, the Game of 24 and the adventure have none: ours have their parameters.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use retold::run::clock::Stopwatch;
use serde_json::{Value, json};

use crate::support::cli::Place;
use crate::support::server::{Received, Reply, Server};
use crate::support::shared_data;
use crate::support::strict::{KINDS, Reader, strict};
use crate::support::studies::answers;

/// Requests per second that a server lets through.
const PER_SECOND: u32 = 100;

/// Every so many requests, the server is overloaded.
const OVERLOADED: u32 = 100;

/// How an API says that too much was asked, or that it is overloaded.
fn refusal(kind: &str, is_limit: bool) -> Reply {
    let (status, body) = match (kind, is_limit) {
        ("anthropic", true) => (429, error_of_anthropic("rate_limit_error")),
        ("anthropic", false) => (529, error_of_anthropic("overloaded_error")),
        ("gemini", true) => (
            429,
            json!({"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota).",
                "status": "RESOURCE_EXHAUSTED", "details": [
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}]}}),
        ),
        ("gemini", false) => (
            503,
            json!({"error": {"code": 503, "message": "The model is overloaded. Please try again later.",
                "status": "UNAVAILABLE"}}),
        ),
        (_, true) => (
            429,
            json!({"error": {"message": "Rate limit reached for requests", "type": "requests",
                "param": null, "code": "rate_limit_exceeded"}}),
        ),
        (_, false) => (
            503,
            json!({"error": {"message": "The server is currently overloaded", "type": "server_error",
                "param": null, "code": null}}),
        ),
    };
    let reply = Reply::new(status, body.to_string());
    if is_limit && kind != "gemini" { reply.header("Retry-After", "1") } else { reply }
}

fn error_of_anthropic(kind: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": kind}})
}

/// Lets as much through as the limit allows, in windows of a second as providers count, and refuses the rest.
struct RateLimit {
    since: Stopwatch,
    window: u64,
    let_through: u32,
    asked: u32,
}

impl RateLimit {
    fn new() -> Self {
        RateLimit { since: Stopwatch::start(), window: 0, let_through: 0, asked: 0 }
    }

    /// `None` if the request is answered; otherwise whether it is the limit that refuses it.
    fn refuses(&mut self) -> Option<bool> {
        self.asked += 1;
        let window = self.since.elapsed().as_secs();
        if window != self.window {
            (self.window, self.let_through) = (window, 0);
        }
        if self.let_through == PER_SECOND {
            return Some(true);
        }
        self.let_through += 1;
        self.asked.is_multiple_of(OVERLOADED).then_some(false)
    }
}

/// An API that limits rates. What it refuses with another status than these is not tried again.
fn limited(kind: &'static str, read: Reader, experiment: &str) -> Server {
    let (answer, mut limit) = (strict(kind, read, experiment), RateLimit::new());
    Server::handler(move |received: &Received| match limit.refuses() {
        Some(is_limit) => refusal(kind, is_limit),
        None => answer(received),
    })
}

/// How many requests got which refusal.
fn statuses(place: &Place) -> BTreeSet<u64> {
    let (listed, _) = place.json("log latest --failed --most 100000");
    let events = listed["events"].as_array().unwrap().iter();
    events.filter_map(|event| event["body"]["failure"]["status"].as_u64()).collect()
}

/// Runs a config, unchanged, with one kind of model. How a refusal is met is the same for every study, so that each has one.
fn patient(kind: &'static str, experiment: &str, config: &Path, vectors: Option<&str>) {
    let (_, read) = KINDS.into_iter().find(|(of, _)| *of == kind).unwrap();
    let (place, server) = (Place::new(), limited(kind, read, experiment));
    let embeddings = Server::handler(answers(experiment));
    let base = match kind {
        "openai" => server.base_url(),
        _ => format!("http://{}", server.address()),
    };
    let endpoint = vectors
        .filter(|_| kind != "openai")
        .map_or_else(String::new, |model| format!(" --endpoint {model}={}", embeddings.base_url()));
    let config = config.display();
    let (whole, code) = place.json(&format!(
        "run {config} --no-outputs --quiet --model {kind} --base-url {base}{endpoint}"
    ));
    assert_eq!(code, 0, "{experiment} {kind}: {whole}");
    assert_eq!(whole["failed_calls"], 0, "{experiment} {kind}: {whole}");
    let refused = statuses(&place);
    let known = [429, 503, 529];
    assert!(refused.iter().all(|status| known.contains(status)), "{kind}: {refused:?}");
}

fn own(config: &str) -> PathBuf {
    PathBuf::from(env!("RETOLD_ROOT")).join("config").join(config)
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn a_deliberation_of_its_author() {
    let config = shared_data("deliberation/config/test_clustering.yaml");
    patient("gemini", "deliberation", &config, Some("text-embedding-3-small"));
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared/data")]
fn public_goods_games_of_their_author() {
    for (kind, name) in
        [("openai", "experiments/baseline"), ("anthropic", "experiments/exp_072_treatment")]
    {
        let config = shared_data(&format!("public_goods/{name}/config.json"));
        patient(kind, "public_goods", &config, None);
    }
}

#[test]
fn the_society_of_the_document() {
    patient("anthropic", "society", &own("society.yaml"), None);
}

#[test]
fn the_game_of_24_of_the_specification() {
    patient("openai", "game24", &own("game24.yaml"), None);
}

#[test]
fn the_adventure_of_the_document() {
    patient("gemini", "adventure", &own("adventure.yaml"), None);
}

/// The limit is one: a program that asks faster is refused.
#[test]
fn the_limit_is_a_limit() {
    let mut limit = RateLimit::new();
    let mut refusals: Vec<Option<bool>> = (0..300).map(|_| limit.refuses()).collect();
    assert!(refusals.contains(&Some(true)) && refusals.contains(&Some(false)), "{refusals:?}");
    std::thread::sleep(Duration::from_millis(1_100));
    refusals = (0..30).map(|_| limit.refuses()).collect();
    assert!(!refusals.contains(&Some(true)), "{refusals:?}");
}
