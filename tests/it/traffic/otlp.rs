//! Traces of OpenTelemetry: runs written as such, and traces of other programs read.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::cli::Place;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("RETOLD_ROOT")).join("fixtures/otlp").join(name);
    path.display().to_string()
}

/// The spans of a file.
fn spans(place: &Place, file: &str) -> Vec<Value> {
    let line = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let text = place.read(file);
    text.lines()
        .map(|text| line(text)["resourceSpans"][0]["scopeSpans"][0]["spans"][0].clone())
        .collect()
}

/// An attribute of a span or of an event.
fn attribute<'a>(of: &'a Value, name: &str) -> &'a Value {
    let mut all = of["attributes"].as_array().unwrap().iter();
    all.find(|attribute| attribute["key"] == name).map_or(&Value::Null, |found| &found["value"])
}

#[test]
fn a_run_is_one_trace_with_a_client_span_for_each_exchange() {
    let place = Place::with_run();
    let said = place.ok("export latest run.jsonl --as otlp");
    place.ok("export latest again.jsonl --as otlp");
    assert_eq!(place.read("run.jsonl"), place.read("again.jsonl"), "the same run, the same bytes");
    let spans = spans(&place, "run.jsonl");
    let (root, exchanges) = spans.split_last().unwrap();
    assert!(said.starts_with(&format!("{} exchanges written", exchanges.len())), "{said}");
    assert_eq!((&root["kind"], &root["parentSpanId"]), (&json!(1), &Value::Null));
    let mut ids: Vec<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), spans.len());
    let mut decisions = 0;
    for span in exchanges {
        assert_eq!(span["traceId"], root["traceId"]);
        assert_eq!((&span["parentSpanId"], &span["kind"]), (&root["spanId"], &json!(3)));
        assert_eq!(attribute(span, "gen_ai.operation.name")["stringValue"], "chat");
        assert_eq!(attribute(span, "gen_ai.provider.name")["stringValue"], "simulated");
        let messages = attribute(span, "gen_ai.input.messages")["stringValue"].as_str().unwrap();
        let messages: Value = serde_json::from_str(messages).unwrap();
        assert_eq!(messages[0]["parts"][0]["type"], "text");
        let events = span["events"].as_array().into_iter().flatten();
        decisions += events.filter(|event| event["name"] == "retold.decision").count();
    }
    let (stats, _) = place.json("stats latest");
    assert!(decisions > 0, "{stats}");
}

/// What is imported from a trace that was exported says the same as the run.
#[test]
fn a_trace_that_is_exported_and_imported_has_the_same_questions_and_answers() {
    let place = Place::with_run();
    place.ok("export latest run.jsonl --as otlp");
    place.ok("import run.jsonl");
    assert_eq!(place.json("show latest").0["simulated"], true, "made-up answers stay marked");
    place.ok("export latest again.jsonl --as otlp");
    let said = |file: &str| {
        let mut all: Vec<[String; 3]> = spans(&place, file)
            .iter()
            .map(|span| {
                ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.usage.output_tokens"]
                    .map(|name| attribute(span, name).to_string())
            })
            .collect();
        all.sort();
        all
    };
    assert_eq!(said("run.jsonl"), said("again.jsonl"));
}

#[test]
fn traces_of_other_programs_are_shown_and_parsed() {
    let mut text = String::new();
    for files in [
        &["conventions.jsonl"][..],
        &["span_events.jsonl"],
        &["spans_alone.jsonl", "log_records.jsonl"],
        &["openllmetry.json"],
    ] {
        let place = Place::new();
        let paths: Vec<String> = files.iter().map(|name| fixture(name)).collect();
        let said = place.run(&format!("import {}", paths.join(" ")));
        let (list, _) = place.json("log");
        let run = list["runs"][0]["run"].as_str().unwrap().to_owned();
        let shown = place.shown(&format!("import {}", paths.join(" ")), &said);
        let shown = shown.replace(&run, "[run]").replace(&run[..8], "[run]");
        text +=
            &paths.iter().zip(files).fold(shown, |shown, (path, name)| shown.replace(path, name));
        place.ok("export latest exchanges.jsonl --as exchanges");
        text += &place.read("exchanges.jsonl");
        for line in place.ok("table latest --table decisions --as jsonl").lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let shown = ["name", "value", "reasoning", "agent", "dialogue"].map(|name| &row[name]);
            text += &format!("{}\n", json!(shown));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_not_a_whole_trace_is_said_to_be_so() {
    let place = Place::new();
    let whole = std::fs::read_to_string(fixture("conventions.jsonl")).unwrap();
    place.write("cut.jsonl", &whole[..whole.len() - 40]);
    place.write("cut_at_once.jsonl", &whole[..400]);
    place.write("other.jsonl", "{\"resourceSpans\": []}\n{\"spans\": []}\n");
    place.write("empty.json", "{\"resourceSpans\": [{\"scopeSpans\": 3}]}");
    place.write("metrics.json", "{\"resourceMetrics\": []}");
    let deep = format!("{{\"resourceSpans\": [{}{}]}}", "[".repeat(5000), "]".repeat(5000));
    place.write("deep.json", deep);
    let mut text = String::new();
    for file in
        ["cut.jsonl", "cut_at_once.jsonl", "other.jsonl", "empty.json", "metrics.json", "deep.json"]
    {
        let said = place.run(&format!("import {file} --json"));
        let shown = place.shown(&format!("import {file} --json"), &said);
        let run = shown.split("\"run\":\"").nth(1).map(|rest| rest[..16].to_owned());
        text += &run.map_or(shown.clone(), |run| shown.replace(&run, "[run]"));
    }
    insta::assert_snapshot!(text);
}
