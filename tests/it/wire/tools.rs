//! Calls of tools that a program reports with plain HTTP: what a model asked for, what the tool gave and what the model said of it are
//! one story, in the terminal and on the page, and a replay runs no tool.

use serde_json::json;

use super::{program, record, record_with, replay};
use crate::serve::Served;
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// A model that asks for the weather in two cities, and says what it was given.
fn model() -> Server {
    Server::handler(|received| {
        let messages = received.json()["messages"].clone();
        let told = messages.as_array().unwrap().last().unwrap().clone();
        if told["role"] == "tool" {
            return Reply::chat(&format!("It is {}.", told["content"].as_str().unwrap()));
        }
        let asked = [("call_oslo", "Oslo"), ("call_nowhere", "Nowhere")].map(|(id, city)| {
            let arguments = json!({"city": city}).to_string();
            let function = json!({"name": "weather", "arguments": arguments});
            json!({"id": id, "type": "function", "function": function})
        });
        let mut reply = Reply::chat("").body_json();
        reply["choices"][0]["finish_reason"] = "tool_calls".into();
        reply["choices"][0]["message"] = json!({
            "role": "assistant", "content": null, "reasoning_content": "I must look <b>it</b> up.",
            "tool_calls": asked,
        });
        Reply::new(200, reply.to_string()).header("content-type", "application/json")
    })
}

/// The text of the body of a page, without its empty lines.
fn text_of(html: &str) -> String {
    let main = html.split_once("<main").map_or(html, |(_, main)| main);
    let main = main.split_once("</main>").map_or(main, |(main, _)| main);
    let tags =
        regex::Regex::new(r"(?s)<(script|style|svg).*?</(script|style|svg)>|<[^>]*>").unwrap();
    let text = tags.replace_all(main, "\n");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.skip(1).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_was_asked_called_given_and_said_is_one_story() {
    let (place, server) = (Place::new(), model());
    let script = program("agent.py");
    let agent = ["python3", script.to_str().unwrap()];
    let recorded = record(&place, "", &server.base_url(), &agent);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert_eq!(recorded.err.matches("ran weather").count(), 2, "{}", recorded.err);
    drop(server);
    let replayed = replay(&place, "latest", &agent);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    assert!(!replayed.err.contains("ran weather"), "{}", replayed.err);

    let shown = place.ok("show latest p_1");
    let audited = place.ok("audit latest turn/1/p_1");
    let (audited, _) = audited.split_once("\nhashes\n").unwrap();
    place.ok("export latest trace.jsonl --as otlp");
    let trace = std::fs::read_to_string(place.path("trace.jsonl")).unwrap();
    for part in ["\"name\":\"execute_tool weather\"", "\"gen_ai.tool.call.id\"", "call_oslo"] {
        assert!(trace.contains(part), "{part}\n{trace}");
    }
    let served = Served::log(&place, "retold.db");
    let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
    let page = served.html(&format!("/run/{run}/participant/p_1"));
    for alive in ["<b>snow", "<b>it", "\u{1b}"] {
        assert!(!page.contains(alive) && !shown.contains('\u{1b}'), "{alive:?}\n{page}");
    }
    let story = format!("{shown}\n\n== audit\n{audited}\n\n== page\n{}", text_of(&page));
    insta::with_settings!({
        filters => vec![
            (r"[0-9a-f]{16}|verify [0-9a-f]{8}", "[run]"),
            (r"\d\d:\d\d:\d\d(\.\d+)?", "[time]"),
            (r"\b\d{4}-\d\d-\d\d\b", "[day]"),
            (r"\b\d+ ms|\d\.\d+ s", "[while]"),
            (r#""latency_ms":\d+"#, r#""latency_ms":[n]"#),
            (r"127-0-0-1-\d+", "[upstream]"),
        ],
        omit_expression => true,
        prepend_module_to_snapshot => false,
    }, { insta::assert_snapshot!("tools_story", story) });
}

#[test]
fn a_tool_that_gives_something_else_is_the_first_difference_of_two_runs() {
    let (place, server) = (Place::new(), model());
    let script = program("agent.py");
    let agent = ["python3", script.to_str().unwrap()];
    for sky in ["sun", "rain"] {
        let set = [("SKY", sky), ("UNLABELLED", "1")];
        let recorded = record_with(&place, "", &server.base_url(), &agent, &set);
        assert_eq!(recorded.code, 0, "{}", recorded.err);
    }
    let runs = place.json("log").0["runs"].clone();
    let [one, two] = [1, 0].map(|at| runs[at]["run"].as_str().unwrap().to_owned());
    let differing = place.run(&format!("diff {one} {two}"));
    assert_eq!(differing.code, 1, "{}", differing.err);
    let at = |text: &str| differing.out.find(text).expect(&differing.out);
    let first = at("has the same prompt and another answer");
    assert!(
        at("\"sky\":\"rain\"") > first && first < at("1 call has another prompt"),
        "{}",
        differing.out
    );
}

#[test]
fn a_framework_without_the_package_beside_it_is_named() {
    let (place, server) = (Place::new(), model());
    place.write("agents.py", "");
    let agent =
        ["python3", "-c", "import sys; sys.path.insert(0, '.'); import agents; print('done')"];
    let recorded = record(&place, "", &server.base_url(), &agent);
    let said = "warning: tools of agents are not recorded, and a replay runs them";
    assert_eq!((recorded.code, recorded.err.matches(said).count()), (0, 1), "{}", recorded.err);
}

#[test]
fn a_key_in_an_argument_is_not_stored_however_deep_it_is() {
    let (place, server) = (Place::new(), model());
    let call = format!(
        "curl -sS $RETOLD_URL/_retold/tools -d '{}'",
        json!({"tool": "fetch", "arguments": {
            "api_key": super::KEY, "headers": {"authorization": super::KEY}, "more": {"config": {"api_key": super::KEY}},
        }})
    );
    let recorded = record(&place, "", &server.base_url(), &["sh", "-c", &call]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    super::assert_no_key(&place, &recorded);
}

/// A tool that was cancelled has not ended: a run that goes on calls it again.
#[test]
fn a_cancelled_tool_is_called_again_when_the_run_goes_on() {
    let (place, server) = (Place::new(), model());
    let call = "
set -e
post() { curl -sS --max-time 20 $RETOLD_URL/_retold/tools$1 -d \"$2\"; }
reply=$(post '' '{\"tool\":\"wait\",\"arguments\":{}}')
echo \"$reply\"
number=$(echo \"$reply\" | sed -n 's/.*\"run\":\\([0-9]*\\).*/\\1/p')
test -z \"$number\" || post /$number \"$OUTCOME\"
exit $CODE";
    let program = ["sh", "-c", call];
    let cancelled = r#"{"error":{"type":"TimeoutError","message":"cancelled","again":true}}"#;
    let set = [("OUTCOME", cancelled), ("CODE", "3")];
    let first = record_with(&place, "", &server.base_url(), &program, &set);
    assert_eq!(first.code, 3, "{}", first.err);
    let set = [("OUTCOME", r#"{"result": 3}"#), ("CODE", "0")];
    let again = super::with(&place, "record --resume latest", &server.base_url(), &program, &set);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.out.contains("\"run\":"), "{}", again.out);
    let replayed = super::replay_with(&place, "latest", &program, &set);
    assert!(replayed.code == 0 && replayed.out.contains("3"), "{}{}", replayed.out, replayed.err);
}
