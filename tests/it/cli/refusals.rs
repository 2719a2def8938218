//! Answers that a model or a filter refuses: counted beside blank and cut-off ones, in tables, figures, audits and numbers.

use serde_json::{Value, json};

use crate::support::cli::Place;

/// Replies as their APIs give them or as retold reads them, and whether they are refused.
fn replies() -> Vec<(&'static str, Value, bool)> {
    let chat = |message: Value, reason: &str| json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}]});
    let said = |text: &str| json!({"role": "assistant", "content": text});
    vec![
        ("openai", chat(said("Yes."), "stop"), false),
        ("openai", chat(said("I'm sorry, but I cannot help with that."), "stop"), false),
        (
            "openai",
            chat(json!({"role": "assistant", "content": null, "refusal": "I won't."}), "stop"),
            true,
        ),
        ("openai", chat(said(""), "content_filter"), true),
        ("openai", chat(said("Cut"), "length"), false),
        (
            "anthropic",
            json!({"type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": "refusal",
                "usage": {"input_tokens": 1, "output_tokens": 1}}),
            true,
        ),
        ("gemini", json!({"content": "", "finish_reason": "SAFETY"}), true),
        ("gemini", json!({"content": null, "finish_reason": "PROHIBITED_CONTENT"}), true),
    ]
}

fn place() -> (Place, String) {
    let place = Place::new();
    let line = |(n, (api, reply, _)): (usize, (&str, Value, bool))| {
        let request =
            json!({"model": "m", "messages": [{"role": "user", "content": format!("{n}?")}]});
        json!({"call": format!("q/{n}"), "request": request, "response": reply, "label": {"api": api}})
            .to_string()
    };
    let lines: Vec<String> = replies().into_iter().enumerate().map(line).collect();
    place.write("answers.jsonl", lines.join("\n"));
    place.ok("import answers.jsonl");
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    (place, run)
}

#[test]
fn the_form_of_an_answer_says_that_it_is_refused() {
    let (place, run) = place();
    let rows = |table: &str| -> Vec<Value> {
        let printed = place.ok(&format!("table {run} --table {table} --as jsonl"));
        printed.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
    };
    let due: Vec<bool> = replies().iter().map(|(.., refused)| *refused).collect();
    let found: Vec<bool> = rows("exchanges").iter().map(|row| row["refused"] == true).collect();
    assert_eq!(found, due);
    let is = |name: &str| rows("exchanges").iter().map(|row| row[name] == true).collect::<Vec<_>>();
    let at = |n: usize| (0..due.len()).map(|at| at == n).collect::<Vec<_>>();
    assert_eq!((is("cut_off"), is("blank")), (at(4), at(99)));
    place.write("vote.yaml", "parsers: [{name: vote, strategies: [{one_of: ['yes', 'no']}]}]\n");
    place.ok(&format!("check {run} --parsers vote.yaml --accept"));
    let found: Vec<bool> = rows("decisions").iter().map(|row| row["refused"] == true).collect();
    assert_eq!(found, due);
}

#[test]
fn refusals_are_counted_and_are_a_figure() {
    let (place, run) = place();
    let (stats, _) = place.json(&format!("stats {run}"));
    assert_eq!((&stats["calls"]["refused"], &stats["calls"]["blank"]), (&json!(5), &json!(0)));
    assert!(place.ok(&format!("stats {run}")).contains("5 refused, 1 cut off"));
    assert!(place.ok(&format!("show {run}")).contains("of the answers: 5 refused, 1 cut off"));
    assert_eq!(place.json(&format!("show {run}")).0["refused_answers"], 5);
    let (audit, _) = place.json(&format!("audit {run} q/7"));
    assert_eq!(
        (&audit["answer"]["refused"], &audit["answer"]["blank"]),
        (&json!(true), &json!(false))
    );
    let said = place.ok(&format!("audit {run} q/3"));
    assert!(
        said.contains("refused: the model or a filter of its provider ended the answer"),
        "{said}"
    );
    let figure = |text: &str| {
        let said = place.args(&["stats", &run, "--figure", text, "--json"]);
        assert_eq!(said.code, 0, "{}", said.err);
        serde_json::from_str::<Value>(&said.out).unwrap()["figures"][0].clone()
    };
    let by_api = figure("share of refused = true by api independent");
    let shares: Vec<(&Value, &Value)> = by_api["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (&group["group"][0], &group["value"]))
        .collect();
    let due = [
        (json!("anthropic"), json!(1.0)),
        (json!("gemini"), json!(1.0)),
        (json!("openai"), json!(0.4)),
    ];
    assert_eq!(shares, due.iter().map(|(api, share)| (api, share)).collect::<Vec<_>>());
    assert_eq!(figure("share of cut_off = true independent")["groups"][0]["draws"], 8);
    // Beside what is missing.
    place.write("vote.yaml", "parsers: [{name: vote, strategies: [{one_of: ['yes', 'no']}]}]\n");
    place.ok(&format!("check {run} --parsers vote.yaml --accept"));
    let vote = figure("share of vote = yes independent");
    assert_eq!(vote["refused"], 5, "{vote}");
    let said = place.args(&["stats", &run, "--figure", "share of vote = yes independent"]).out;
    let note = "of the missing and fallback values, 5 are of answers that were refused";
    assert!(said.contains(note), "{said}");
}
