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

/// Whatever a span has that its exchange does not is named.
#[test]
fn what_is_not_taken_over_is_listed() {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let span = |id: &str, attributes: Value, more: Value| {
        let mut span = json!({"traceId": "11".repeat(16), "spanId": id.repeat(8), "name": "chat",
            "startTimeUnixNano": "1000000", "endTimeUnixNano": "2000000", "attributes": attributes});
        span.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        span
    };
    let asked = || {
        vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", "m"),
            text(
                "gen_ai.input.messages",
                r#"[{"role":"user","parts":[{"type":"text","content":"hi"}]}]"#,
            ),
            text(
                "gen_ai.output.messages",
                r#"[{"role":"assistant","parts":[{"type":"text","content":"ho"}]}]"#,
            ),
        ]
    };
    let with = |more: Vec<Value>| Value::from([asked(), more].concat());
    let integer = |key: &str, value: i64| json!({"key": key, "value": {"intValue": value}});
    let strange = with(vec![
        text("server.address", "here"),
        integer("gen_ai.conversation.id", 7),
        integer("gen_ai.usage.input_tokens", -3),
        json!({"key": "retold.label.condition", "value": {"arrayValue": {"values": []}}}),
    ]);
    let score = json!([text("gen_ai.evaluation.name", "good"), text("gen_ai.evaluation.score.label", "very"),
        {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.5}}]);
    let events = json!([{"name": "exception", "attributes": []}, {"name": "gen_ai.evaluation.result", "attributes": score}]);
    let failed = with(vec![integer("gen_ai.usage.output_tokens", 3)]);
    let spans = json!([
        span(
            "aa",
            strange,
            json!({"events": events, "links": [{"traceId": "22", "spanId": "33"}]})
        ),
        span("bb", failed, json!({"status": {"code": 2, "message": "no"}, "endTimeUnixNano": "1"})),
    ]);
    let resource = json!({"attributes": [text("service.name", "study")]});
    let scopes = json!([{"scope": {"attributes": [text("library", "x")]}, "spans": spans}]);
    let records = json!([{"traceId": "11", "spanId": "dd", "eventName": "gen_ai.choice", "body": {"stringValue": "lost"}}]);
    let place = Place::new();
    let lines = [
        json!({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}),
        json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}),
    ];
    place.write("strange.jsonl", lines.map(|line| line.to_string()).join("\n"));
    let said = place.ok("import strange.jsonl");
    let (_, list) = said.split_once("not represented:\n").unwrap();
    let (list, _) = list.split_once("\nnext:").unwrap();
    insta::assert_snapshot!(list);
    // A span of which everything is taken over.
    let line = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span("cc", with(Vec::new()), json!({}))]}]}]});
    place.write("plain.jsonl", line.to_string());
    let said = place.ok("import plain.jsonl");
    assert!(!said.contains("not represented"), "{said}");
}

/// What a file is is seen in its first bytes, also where it is a pipe.
#[test]
fn a_trace_is_recognised_on_standard_input() {
    let place = Place::new();
    let text = std::fs::read(fixture("conventions.jsonl")).unwrap();
    let said = place.fed(&["import", "-"], &text);
    assert!(said.code == 0 && said.out.contains("(otlp)"), "{said:?}");
}

/// There is nothing that could be missing.
#[test]
fn a_request_without_messages_is_exported_as_it_is() {
    let place = Place::new();
    let line = json!({"call": "q", "request": {"model": "m", "messages": []}, "response": {"content": "a"}});
    place.write("empty.jsonl", line.to_string());
    place.ok("import empty.jsonl");
    let said = place.ok("export latest trace.jsonl --as otlp");
    assert!(!said.contains("messages"), "{said}");
}
