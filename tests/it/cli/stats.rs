//! `retold stats`: a run in numbers.

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};

const RECORDINGS: [&str; 5] = [
    "adventure_small.jsonl",
    "deliberation_small.jsonl.zst",
    "game24_small.jsonl",
    "public_goods_small.jsonl",
    "society_small.jsonl",
];

fn recording(name: &str) -> String {
    format!("{}/recordings/{name}", env!("RETOLD_ROOT"))
}

/// An exchange for a file, with what follows the response's content.
fn exchange(call: &str, model: &str, more: &str) -> String {
    let request = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"?"}}]}}"#);
    format!(r#"{{"call":"{call}","request":{request},"response":{{"content":"4"{more}}}}}"#)
}

#[test]
fn recordings_in_numbers() {
    let place = Place::new();
    let mut all = String::new();
    for name in RECORDINGS {
        let said = place.run(&format!("stats {}", recording(name)));
        assert_eq!(said.code, 0, "{}", said.err);
        all.push_str(&place.shown(&format!("stats {name}"), &said));
    }
    assert_said!("stats_recordings", all);
}

/// Counted again from what `log --json` lists, by another way.
#[test]
fn the_numbers_are_those_of_the_events() {
    let place = Place::new();
    for name in RECORDINGS {
        place.ok(&format!("import {}", recording(name)));
        let (log, _) = place.json("log latest --most 1000000");
        let events = log["events"].as_array().unwrap();
        let of = |kind: &str| {
            events.iter().filter(|event| event["kind"] == kind).cloned().collect::<Vec<Value>>()
        };
        let (stats, code) = place.json("stats latest");
        assert_eq!(code, 0, "{stats}");
        assert_eq!(stats["events"], events.len());
        let (answers, reused) = (of("ResponseReceived"), of("AnswerReused"));
        assert_eq!(stats["calls"]["answered"], answers.len() + reused.len(), "{name}");
        assert_eq!(stats["attempts"]["made"], answers.len() + of("AttemptFailed").len());
        assert_eq!(stats["attempts"]["failed"], of("AttemptFailed").len());
        let given_up = of("AttemptFailed").iter().filter(|f| f["body"]["final"] == true).count();
        assert_eq!(stats["calls"]["failed"], given_up);
        let sum = |key: &str| answers.iter().filter_map(|a| a["body"][key].as_u64()).sum::<u64>();
        assert_eq!(stats["tokens"]["prompt"], sum("prompt_tokens"), "{name}");
        assert_eq!(stats["tokens"]["completion"], sum("completion_tokens"));
        let made = stats["parsers"].as_object().unwrap().values();
        let made: u64 = made.map(|parser| parser["decisions"].as_u64().unwrap()).sum();
        assert_eq!(made, of("DecisionMade").len() as u64);
        let times: Vec<u64> =
            answers.iter().filter_map(|answer| answer["body"]["latency_ms"].as_u64()).collect();
        let latency = &stats["latency_ms"];
        match times.iter().max() {
            Some(longest) => {
                assert_eq!(
                    (&latency["measured"], &latency["max"]),
                    (&json!(times.len()), &json!(longest))
                );
            }
            None => assert!(latency.is_null()),
        }
    }
}

#[test]
fn prices_cached_tokens_and_models_without_a_price() {
    let place = Place::new();
    let lines = [
        exchange(
            "a/1",
            "gpt-4o",
            r#","usage":{"prompt_tokens":1000000,"completion_tokens":100000,"prompt_tokens_details":{"cached_tokens":400000},"completion_tokens_details":{"reasoning_tokens":50000},"cost":0.5}"#,
        ),
        exchange("a/2", "gpt-4o", ""),
        exchange(
            "b/1",
            "\u{202e}mystery",
            r#","usage":{"prompt_tokens":10,"completion_tokens":1}"#,
        ),
    ];
    place.write("answers.jsonl", format!("{}\n", lines.join("\n")));
    place.ok("import answers.jsonl");
    place.write(
        "prices.yaml",
        "models:\n  gpt-4o: {prompt: 10, completion: 100}\n  \"*\": {prompt: 1, completion: 1}\n",
    );
    place.write("wrong.yaml", "models:\n  gpt-4o: {prompt: -10, completion: 100}\n");
    let said = place.session(&[
        "stats latest",
        "stats answers.jsonl",
        "stats latest --prices prices.yaml",
        "stats latest --prices wrong.yaml",
        "stats latest --prices none.yaml",
        "stats nobody",
        "stats",
    ]);
    let ids = regex::Regex::new("run [0-9a-f]{16}").unwrap();
    assert_said!("stats_prices", ids.replace_all(&said, "run [id]").as_ref());
    let (stats, _) = place.json("stats latest");
    // 600,000 tokens at 2.50, 400,000 at 1.25, and 100,000 at 10, per million.
    assert_eq!(stats["cost"]["dollars"], 3.0);
    assert_eq!(stats["cost"]["is_complete"], false);
    assert_eq!(stats["cost"]["without_price"], json!({"\u{202e}mystery": 1}));
    assert_eq!(stats["saved"]["provider_cached"]["dollars"], 0.5);
}

/// What an answer costs depends on the host, the tier and what the provider's cache was used for.
#[test]
fn an_answer_costs_what_its_provider_takes_for_its_tokens() {
    let place = Place::new();
    let cassette = |url: &str, usage: &str| {
        let body =
            json!({"model": "m-1", "messages": [{"role": "user", "content": url}]}).to_string();
        let answer = format!(
            r#"{{"id":"c","object":"chat.completion","created":1,"model":"m-1","choices":[{{"index":0,"message":{{"role":"assistant","content":"x"}},"finish_reason":"stop"}}],{usage}}}"#
        );
        json!({"request": {"method": "POST", "uri": url, "body": body, "headers": {}},
            "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": answer}}})
    };
    let usage = r#""usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}"#;
    let flex = format!(r#""service_tier":"flex",{usage}"#);
    let written = r#""usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,
        "prompt_tokens_details":{"cached_tokens":200,"cache_write_tokens":300}}"#;
    let [one, other] = [
        "https://api.openai.com/v1/chat/completions",
        "https://api.groq.com/openai/v1/chat/completions",
    ];
    let all = [
        cassette(one, usage),
        cassette(other, usage),
        cassette(one, &flex),
        cassette(one, written),
    ];
    place.write("c.json", json!({"version": 1, "interactions": all}).to_string());
    place.write(
        "prices.yaml",
        "taken: 2026-11-01\nproviders:\n  openai:\n    hosts: [api.openai.com]\n    models:\n      m-*:\n      \
         - {prompt: 10, cached: 1, written: 12.5, completion: 100}\n      - {service: flex, prompt: 5, completion: 50}\n  \
         groq:\n    hosts: [api.groq.com]\n    models:\n      m-1: {prompt: 1, completion: 2}\n",
    );
    place.ok("import c.json");
    let (stats, _) = place.json("stats latest --prices prices.yaml");
    // $0.01 + $0.01; $0.001 + $0.0002; half of the first; 500 × 10, 200 × 1, 300 × 12.5 and 100 × 100 per million.
    let due = 0.02 + 0.001_2 + 0.01 + 0.018_95;
    assert!((stats["cost"]["dollars"].as_f64().unwrap() - due).abs() < 1e-12, "{}", stats["cost"]);
    assert_eq!(stats["cost"]["prices_taken"], "2026-11-01");
    assert_eq!(stats["saved"]["provider_cached"]["dollars"], 0.001_8);
    let text = place.ok("stats latest --prices prices.yaml");
    assert!(text.contains("cost      $0.05 at list prices of 2026-11-01\n"), "{text}");
    // Two answers of a batch, at half the price of m.
    for (file, fixture) in [("in.jsonl", "rest_input"), ("out.jsonl", "rest_output")] {
        let fixture = format!("{}/fixtures/batch/{fixture}.jsonl", env!("RETOLD_ROOT"));
        place.write(file, std::fs::read_to_string(fixture).unwrap());
    }
    place.write("batch.yaml", "models:\n  m: [{prompt: 1, completion: 3}, {service: batch, prompt: 0.5, completion: 1.5}]\n");
    place.ok("import in.jsonl out.jsonl");
    let (stats, _) = place.json("stats latest --prices batch.yaml");
    let answers = stats["tokens"]["counted"].as_f64().unwrap();
    assert!(answers > 0.0);
    assert_eq!(stats["cost"]["dollars"].as_f64().unwrap(), answers * 0.000_002);
}

#[test]
fn a_fork_has_answers_of_its_parent_and_resumes_are_counted() {
    let place = Place::with_run();
    let (parent, _) = place.json("stats latest");
    place.ok("fork latest --set samples=4 --quiet");
    let (fork, _) = place.json("stats latest");
    assert_eq!(fork["forked_from"], parent["run"]);
    assert_eq!(fork["saved"]["from_parent"]["answers"], parent["calls"]["answered"]);
    assert_eq!(
        fork["saved"]["from_parent"]["completion_tokens"], parent["tokens"]["completion"],
        "what they would have cost is what they cost the parent"
    );
    let asked =
        fork["calls"]["asked"].as_u64().unwrap() - parent["calls"]["asked"].as_u64().unwrap();
    let answered =
        fork["attempts"]["made"].as_u64().unwrap() - fork["attempts"]["failed"].as_u64().unwrap();
    assert_eq!(answered, asked - fork["calls"]["failed"].as_u64().unwrap());
    let text = place.ok("stats latest");
    assert!(text.contains("SIMULATED"), "{text}");
    assert!(text.contains("that it is a fork of"), "{text}");
}

#[test]
fn accepted_decisions_are_shown_beside_the_recorded_ones() {
    let place = Place::with_run();
    let (run, _) = place.json("stats latest");
    let name = run["run"].as_str().unwrap();
    let said = place.run(&format!("check {name} --parser game24@1 --accept"));
    assert!(said.code <= 1, "{}{}", said.out, said.err);
    let (stats, _) = place.json(&format!("stats {name}"));
    assert_eq!(run["parsers"], stats["parsers"]);
    assert_eq!(run["accepted"], json!([]));
    let accepted = stats["accepted"].as_array().unwrap();
    assert_eq!(accepted.len(), 1, "{stats}");
    let decisions = &accepted[0]["parsers"]["game24@1"]["decisions"];
    assert_eq!(*decisions, run["parsers"]["game24@2"]["decisions"]);
    let text = place.ok(&format!("stats {name}"));
    assert!(text.contains("accepted about these answers"), "{text}");
}
