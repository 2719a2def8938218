//! A tier of service that a config names: sent with every request, part of no prompt, and counted at its price.

use crate::support::cli::Place;
use crate::support::server::{Reply, Server};
use serde_json::json;

/// A server that answers in the tier that it is asked in.
fn server() -> Server {
    Server::handler(|request| {
        let tier = request.json()["service_tier"].clone();
        let answer = json!({"id": "a", "object": "chat.completion", "model": "gpt-5-mini", "service_tier": tier,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "(1 + 2) * 3 = 24"}}],
            "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 0}});
        Reply::new(200, answer.to_string()).header("content-type", "application/json")
    })
}

fn tiers(server: &Server) -> Vec<serde_json::Value> {
    server.received().iter().map(|request| request.json()["service_tier"].clone()).collect()
}

#[test]
fn flex_is_sent_costs_half_and_shares_the_answers_of_the_usual_tier() {
    let (place, flex, usual) = (Place::new(), server(), server());
    let run = |server: &Server, more: &str| {
        let url = server.base_url();
        place.ok(&format!("run small.yaml --quiet --model gpt-5-mini --base-url {url} {more}"));
        place.json("stats latest").0
    };
    let stats = run(&flex, "--set model.tier=flex");
    let asked = tiers(&flex);
    assert!(!asked.is_empty() && asked.iter().all(|tier| tier == "flex"), "{asked:?}");
    let calls = asked.len() as f64;
    let cost = |stats: &serde_json::Value| stats["cost"]["dollars"].as_f64().unwrap();
    assert!((cost(&stats) - 0.125 * calls).abs() < 1e-9, "{stats}");
    // A fork in the usual tier has the same prompts: only what is new is asked.
    let url = usual.base_url();
    place
        .ok(&format!("fork latest --quiet --set samples=4 --set model.tier=null --base-url {url}"));
    assert_eq!(tiers(&usual), [json!(null), json!(null)]);
    place.ok("replay latest");
    let stats = run(&usual, "--new");
    assert!(tiers(&usual).iter().all(serde_json::Value::is_null));
    assert!((cost(&stats) - 0.25 * calls).abs() < 1e-9, "{stats}");
}

#[test]
fn a_provider_without_the_tier_is_named_before_anything_is_asked() {
    let place = Place::new();
    let said =
        place.run("run small.yaml --model anthropic/claude-sonnet-4-5 --set model.tier=flex");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err.contains("anthropic has no tier flex: OpenAI and Gemini have"),
        "{}",
        said.err
    );
    let said = place.run("run small.yaml --set model.tier=cheap");
    assert!(said.code == 2 && said.err.contains("flex"), "{}", said.err);
    // A simulated model has none, and takes it as it is.
    place.ok("run small.yaml --quiet --set model.tier=flex");
}
