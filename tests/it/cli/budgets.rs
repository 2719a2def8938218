//! Limits on tokens and cost.

use serde_json::Value;

use crate::support::cli::{Place, assert_said};
use crate::support::server::{Reply, Server};

/// Every answer takes five prompt tokens and two completion tokens.
fn server() -> Server {
    Server::handler(|_| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"))
}

#[test]
fn a_run_stops_at_its_token_limit_and_continues_with_a_higher_one() {
    let (place, server) = (Place::new(), server());
    let url = server.base_url();
    let said = place.run(&format!("run small.yaml --quiet --max-tokens 20 --base-url {url}"));
    assert_eq!(said.code, 4, "{}", said.err);
    assert_said!("budgets_tokens", place.shown("run small.yaml", &said));
    assert_eq!(server.received().len(), 3, "7 tokens each");
    // What was already recorded counts towards the limit, and the run remembers its limit.
    let (resumed, code) = place.json(&format!("run --resume latest --base-url {url}"));
    assert_eq!((code, &resumed["outcome"]), (4, &"stopped".into()), "{resumed}");
    assert_eq!(resumed["error"], "the run has used 21 tokens, and max_tokens is 20");
    // So it does when it is continued by its config.
    let (resumed, code) = place.json(&format!("run small.yaml --resume --base-url {url}"));
    assert_eq!((code, &resumed["outcome"]), (4, &"stopped".into()), "{resumed}");
    assert_eq!(resumed["error"], "the run has used 21 tokens, and max_tokens is 20");
    let resume = format!("run --resume latest --quiet --base-url {url}");
    assert_eq!(place.run(&format!("{resume} --max-tokens 28")).code, 4);
    assert_eq!(server.received().len(), 4);
    // It keeps that one, too, however it is named.
    for named in ["latest", "small.yaml"] {
        let (resumed, _) = place.json(&format!("run {named} --resume --base-url {url}"));
        assert_eq!(resumed["error"], "the run has used 28 tokens, and max_tokens is 28");
    }
    // Unless its config says something new.
    let more = "run small.yaml --set limits.max_tokens=35";
    let said = place.run(&format!("{more} --resume --quiet --base-url {url}"));
    assert!(said.err.contains("max_tokens is 35"), "{}", said.err);
    assert_eq!(server.received().len(), 5);
    assert_eq!(place.run(&format!("{resume} --max-tokens 42")).code, 0, "just enough");
    assert_eq!(server.received().len(), 6);
    place.ok("replay latest");
    // Shared answers were paid for in the run that asked for them.
    let fork = format!("fork latest --set samples=4 --max-tokens 14 --base-url {url}");
    let (forked, code) = place.json(&fork);
    assert_eq!((code, &forked["model_calls"]), (0, &2.into()), "{forked}");
}

#[test]
fn a_run_stops_when_it_has_cost_enough() {
    let (place, server) = (Place::new(), server());
    let url = server.base_url();
    // gpt-4 costs 30 and 60 dollars per million tokens: 0.00027 per answer.
    let run = format!("run small.yaml --quiet --base-url {url}");
    let said = place.run(&format!("{run} --max-cost 0.0006"));
    assert_eq!(said.code, 4, "{}", said.err);
    assert_said!("budgets_cost", said.err);
    assert_eq!(server.received().len(), 3);
    let resume = format!("run --resume latest --json --quiet --base-url {url}");
    let said = place.run(&format!("{resume} --max-cost 0.0007"));
    let resumed: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(resumed["error"], "the run has cost 0.0008 dollars, and max_cost is 0.0007");
    place.write("mine.yaml", "models:\n  gpt-4: {prompt: 0, completion: 0}\n");
    assert_eq!(place.run(&format!("{resume} --prices mine.yaml")).code, 0, "a better price");
}

#[test]
fn a_model_without_a_price_is_not_asked() {
    let (place, server) = (Place::new(), server());
    let run = format!(
        "run small.yaml --quiet --set request.model=gpt-99 --max-cost 1 --base-url {}",
        server.base_url()
    );
    let said = place.run(&run);
    assert_eq!(said.code, 2);
    assert_said!("budgets_no_price", said.err);
    assert_eq!(server.received().len(), 0);
    place.write("mine.yaml", "models:\n  gpt-99: {prompt: 1, completion: 2}\n");
    assert_eq!(place.run(&format!("{run} --prices mine.yaml")).code, 0);
    place.write("bad.yaml", "models:\n  gpt-99: {prompt: -1, completion: 2}\n");
    let said = place.run(&format!("{run} --prices bad.yaml"));
    assert_eq!(said.code, 2);
    let expected = "bad.yaml: models.gpt-99: a price is from 0 to 1000000 dollars, not -1";
    assert!(said.err.contains(expected), "{}", said.err);
    assert_eq!(place.run(&format!("{run} --prices nowhere.yaml")).code, 3);
}

#[test]
fn tokens_that_are_not_counted_cannot_be_limited() {
    let place = Place::new();
    let body = r#"{"choices":[{"message":{"content":"Answer: 24"}}]}"#;
    let server = Server::handler(move |_| Reply::new(200, body));
    let run = format!("run small.yaml --quiet --max-tokens 1000 --base-url {}", server.base_url());
    let said = place.run(&run);
    assert_eq!(said.code, 4);
    assert_said!("budgets_uncounted", said.err);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn the_simulated_model_counts_its_tokens() {
    let place = Place::new();
    let (stopped, code) = place.json("run small.yaml --max-tokens 1");
    assert_eq!((code, &stopped["outcome"]), (4, &"stopped".into()), "{stopped}");
    assert_eq!(stopped["exchanges"], 1);
}

#[test]
fn a_stopped_run_says_how_many_calls_failed_and_has_no_digest() {
    let place = Place::new();
    let mut n = 0;
    let server = Server::handler(move |_| {
        n += 1;
        match n {
            1 | 3 => Reply::error(400, "bad_request", "no"),
            _ => Reply::chat("Answer: 4 * 6"),
        }
    });
    let run = format!("run small.yaml --quiet --max-tokens 14 --base-url {}", server.base_url());
    let said = place.run(&run);
    assert_eq!(said.code, 4, "{}", said.err);
    assert_said!("budgets_failed", place.shown("run small.yaml", &said));
    let (object, _) = place.json(&format!("run --resume latest --base-url {}", server.base_url()));
    assert_eq!((&object["failed_calls"], &object["outcome"]), (&2.into(), &"stopped".into()));
    assert_eq!(object["outcome_digest"], Value::Null, "{object}");
}
