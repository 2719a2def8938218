//! Answers with more than a text stay the same through everything that can be done with a run:
//! recorded from a server, replayed, exported, imported, parsed.

use serde_json::{Map, Value, json};

use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// A whole reply that contains a choice.
fn completion(message: Value, choice: Value, usage: Value) -> Value {
    let mut whole = json!({"index": 0, "finish_reason": "stop", "message": message});
    whole.as_object_mut().unwrap().extend(choice.as_object().unwrap().clone());
    json!({
        "id": "chatcmpl-7", "object": "chat.completion", "created": 1_760_000_000,
        "model": "test-model-1", "system_fingerprint": "fp_1", "service_tier": "default",
        "provider": "P", "choices": [whole], "usage": usage,
    })
}

fn usage() -> Value {
    json!({"prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42, "cost": 0.00042,
        "prompt_tokens_details": {"cached_tokens": 20, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 8, "audio_tokens": 4}})
}

const GOOD: &str = "Answer: (1 - 1) + 4 * 6 = 24";

/// One reply per question of the small study.
pub(super) fn replies() -> Vec<Value> {
    let assistant = |parts: Value| {
        let mut message = json!({"role": "assistant"});
        message.as_object_mut().unwrap().extend(parts.as_object().unwrap().clone());
        message
    };
    let calls = json!([{"id": "call_1", "type": "function",
        "function": {"name": "solve", "arguments": "{\"n\":[1,1,4,6]}"}}]);
    vec![
        completion(
            assistant(json!({"content": null, "tool_calls": calls})),
            json!({"finish_reason": "tool_calls"}),
            usage(),
        ),
        completion(
            assistant(json!({"content": null, "refusal": "I cannot help with that."})),
            json!({}),
            usage(),
        ),
        completion(
            assistant(json!({"content": GOOD, "annotations": [{"type": "url_citation"}]})),
            json!({"logprobs": {"content": [{"token": "A", "logprob": -0.25, "top_logprobs": []}]}}),
            usage(),
        ),
        completion(assistant(json!({"content": null})), json!({}), usage()),
        completion(
            assistant(
                json!({"content": "", "reasoning": "hm", "reasoning_details": [{"text": "hm"}]}),
            ),
            json!({"finish_reason": "length", "native_finish_reason": "MAX_TOKENS"}),
            usage(),
        ),
        completion(
            assistant(json!({
                "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": GOOD}],
                "reasoning_content": "r", "thinking": "u", "audio": {"id": "a", "data": "AAAA"},
                "extra": {"x": 1}, "usage": "of the message",
            })),
            json!({}),
            usage(),
        ),
    ]
}

/// The parts of each reply that are kept.
fn kept() -> Vec<Value> {
    let with = |finish_reason: &str, extra: Value| {
        let mut parts = json!({"completion": {"created": 1_760_000_000, "provider": "P"},
            "usage": {"completion_tokens_details": {"audio_tokens": 4}}});
        parts.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"finish_reason": finish_reason, "id": "chatcmpl-7", "model": "test-model-1",
            "system_fingerprint": "fp_1", "service_tier": "default", "prompt_tokens": 30,
            "completion_tokens": 12, "cached_tokens": 20, "reasoning_tokens": 8, "cost": 0.00042,
            "extra": parts})
    };
    let message = |at: usize, name: &str| replies()[at]["choices"][0]["message"][name].clone();
    vec![
        with("tool_calls", json!({"tool_calls": message(0, "tool_calls")})),
        with("stop", json!({"refusal": "I cannot help with that."})),
        with(
            "stop",
            json!({"annotations": message(2, "annotations"),
            "logprobs": replies()[2]["choices"][0]["logprobs"]}),
        ),
        with("stop", json!({})),
        with(
            "length",
            json!({"reasoning": "hm", "reasoning_details": [{"text": "hm"}],
            "choice": {"native_finish_reason": "MAX_TOKENS"}}),
        ),
        with(
            "stop",
            json!({
            "content_parts": [{"type": "thinking", "thinking": "t"},
                {"type": "text", "text_at": [0, GOOD.len()]}],
            "reasoning_content": "r", "thinking": "u", "audio": {"id": "a", "data": "AAAA"},
            "message": {"extra": {"x": 1}, "usage": "of the message"}}),
        ),
    ]
}

const TEXTS: [&str; 6] = ["", "", GOOD, "", "", GOOD];

fn events(place: &Place, args: &str, kind: &str) -> Vec<Value> {
    let (log, _) = place.json(args);
    let events = log["events"].as_array().unwrap();
    events.iter().filter(|event| event["kind"] == kind).cloned().collect()
}

/// The texts of the answers of a log's newest run, with their other recorded parts except latency.
fn answers(place: &Place, log: &str) -> Vec<(String, Value)> {
    let all = events(place, &format!("{log} log latest"), "ResponseReceived");
    let all = all.into_iter().map(|event| {
        let mut body = event["body"].clone();
        body.as_object_mut().unwrap().remove("latency_ms");
        // An imported answer keeps its labels as they were written.
        body.as_object_mut().unwrap().remove("label");
        (event["content"].as_str().unwrap().to_owned(), body)
    });
    all.collect()
}

fn expected() -> Vec<(String, Value)> {
    TEXTS.map(str::to_owned).into_iter().zip(kept()).collect()
}

fn recorded() -> (Place, Value) {
    let place = Place::new();
    let server = Server::script(replies().iter().map(|body| Reply::new(200, body.to_string())));
    let (ended, code) = place.json(&format!("run small.yaml --base-url {}", server.base_url()));
    assert_eq!((code, &ended["outcome"]), (0, &"finished".into()), "{ended}");
    (place, ended)
}

#[test]
fn whole_answers_are_recorded_once_each_part() {
    let (place, ended) = recorded();
    assert_eq!(answers(&place, ""), expected());
    assert_eq!((&ended["blank_answers"], &ended["cut_off_answers"]), (&2.into(), &1.into()));
    assert_eq!(ended["refused_answers"], 1);
    // And at any time later.
    let (shown, _) = place.json("show latest");
    for key in ["blank_answers", "refused_answers", "cut_off_answers", "unreadable_answers"] {
        assert_eq!(shown[key], ended[key], "{key}");
    }
    let said = place.ok("show latest");
    assert!(
        said.contains("\nof the answers: 2 blank, 1 refused, 1 cut off at the limit of tokens\n"),
        "{said}"
    );
    place.ok("verify");
}

#[test]
fn whole_answers_are_the_same_after_every_way_there_is() {
    let (place, ended) = recorded();
    let digest = &ended["outcome_digest"];
    place.ok("replay latest");
    place.ok("export latest run.jsonl");
    place.ok("replay run.jsonl");
    place.ok("--log recording.db import run.jsonl");
    assert_eq!(answers(&place, "--log recording.db"), expected());
    place.ok("--log recording.db replay latest");
    place.ok("--log recording.db verify");

    place.ok("export latest answers.jsonl --as exchanges");
    place.ok("--log exchanges.db import answers.jsonl");
    assert_eq!(answers(&place, "--log exchanges.db"), expected());
    place.ok("--log exchanges.db export latest again.jsonl --as exchanges");
    assert_eq!(place.read("again.jsonl"), place.read("answers.jsonl"));

    let (again, _) = place.json("--log scripted.db run small.yaml --answers answers.jsonl");
    assert_eq!(&again["outcome_digest"], digest);
    assert_eq!(answers(&place, "--log scripted.db"), expected());

    let (forked, code) =
        place.json("--log scripted.db fork latest --answers answers.jsonl --at solve/1#2");
    assert_eq!((code, &forked["outcome_digest"]), (0, digest), "{forked}");
    let reused = events(&place, "--log scripted.db log latest", "AnswerReused");
    assert_eq!(reused.len(), 5);
    for event in reused {
        assert_eq!(event["body"]["answer"]["id"], "chatcmpl-7", "{event}");
    }
}

#[test]
fn a_pasted_reply_is_taken_as_a_live_one() {
    let (place, _) = recorded();
    place.ok("export latest answers.jsonl --as exchanges");
    let lines = place.read("answers.jsonl");
    let pasted = |reply: Value, line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["response"] = reply;
        format!("{line}\n")
    };
    let whole: String =
        lines.lines().zip(replies()).map(|(line, body)| pasted(body, line)).collect();
    place.write("whole.jsonl", whole);
    place.ok("--log whole.db import whole.jsonl");
    assert_eq!(answers(&place, "--log whole.db"), expected());
    // Only the message, and its parts within "extra".
    let messages = lines.lines().zip(replies()).map(|(line, body)| {
        let mut message = body["choices"][0]["message"].as_object().unwrap().clone();
        let own = |name: &str| ["content", "role", "extra", "usage"].contains(&name);
        let (mut message, extra): (Map<String, Value>, Map<String, Value>) =
            std::mem::take(&mut message).into_iter().partition(|(name, _)| own(name));
        message.remove("usage");
        message.insert("extra".to_owned(), extra.into());
        pasted(message.into(), line)
    });
    place.write("messages.jsonl", messages.collect::<String>());
    place.ok("--log messages.db import messages.jsonl");
    let names = ["tool_calls", "refusal", "annotations", "reasoning", "audio", "content_parts"];
    let all = answers(&place, "--log messages.db").into_iter().zip(expected());
    for ((text, body), (expected_text, expected)) in all {
        assert_eq!(text, expected_text);
        for name in names {
            assert_eq!(body["extra"][name], expected["extra"][name], "{name}");
        }
    }
}

#[test]
fn labels_are_kept_and_come_out_again() {
    let place = Place::new();
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "2 + 2?"}]});
    let good = json!({"request": request, "response": {"content": "4"}, "label": {"sum": 4}});
    let failed =
        json!({"request": request, "error": {"failure": "rejected", "message": "no"}, "label": 4});
    place.write("labelled.jsonl", format!("{good}\n{failed}\n"));
    place.ok("import labelled.jsonl");
    place.ok("export latest out.jsonl --as exchanges");
    let lines: Vec<Value> =
        place.read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["label"], &lines[1]["label"]),
        (&json!({"sum": 4}), &json!({"gold": "4"}))
    );
    place.ok("import out.jsonl");
    place.ok("export latest again.jsonl --as exchanges");
    assert_eq!(place.read("again.jsonl"), place.read("out.jsonl"));
}

#[test]
fn digits_of_pasted_integers_are_kept() {
    let place = Place::new();
    let digits = "123456789012345678901234567890";
    let line = format!(
        r#"{{"request":{{"model":"m","messages":[]}},"response":{{"content":"x","tool_calls":[{{"n":{digits}}}],"usage":{{"odd":9007199254740993}}}}}}"#
    );
    place.write("long.jsonl", line + "\n");
    place.ok("import long.jsonl");
    let (_, body) = answers(&place, "").remove(0);
    assert_eq!(body["extra"]["tool_calls"][0]["n"], digits);
    assert_eq!(body["extra"]["usage"]["odd"], "9007199254740993");
    assert_eq!(body["extra"]["exact_integers"], json!(["/tool_calls/0/n", "/usage/odd"]));
}

#[test]
fn blank_and_cut_off_answers_are_shown_as_such() {
    let (place, _) = recorded();
    let said = place.run("run --resume latest");
    let warning = "warning: of 6 answers, 2 are blank, 1 was refused, 1 was cut off at the limit of tokens\n  hint: `retold show ";
    assert!(said.err.contains(warning), "{}", said.err);
    let shown = place.ok("show latest solve/1#1");
    assert!(shown.contains("  blank: neither a text nor a tool call nor a refusal\n"), "{shown}");
    assert!(shown.contains("  cut off: it had reached the limit of tokens\n"), "{shown}");
    let (shown, _) = place.json("show latest solve/0#0");
    let answer = &shown["answer"];
    assert_eq!((&answer["blank"], &answer["cut_off"]), (&false.into(), &false.into()));
    assert_eq!(answer["details"]["extra"]["tool_calls"][0]["id"], "call_1");
    let (shown, _) = place.json("show latest solve/1#0");
    assert_eq!(
        (&shown["answer"]["blank"], &shown["answer"]["cut_off"]),
        (&true.into(), &false.into())
    );
}

/// A program that decides about more than the text.
#[test]
fn a_filter_is_given_the_whole_answer() {
    let (place, _) = recorded();
    let script = "import json, sys\n\
        for line in sys.stdin:\n    \
            it = json.loads(line)\n    \
            extra = it.get('extra', {})\n    \
            value = extra.get('refusal') or [c['id'] for c in extra.get('tool_calls', [])] or it['text']\n    \
            print(json.dumps({'value': value, 'method': it.get('finish_reason', 'none')}))\n";
    place.write("filter.py", script);
    let mut command = place.command();
    command.args(["check", "latest", "--json", "--parser-cmd", "python3 filter.py"]);
    let said = crate::support::cli::Said::ended(&mut command);
    let checked: Value = serde_json::from_str(&said.out).unwrap();
    let methods = checked.to_string();
    for part in ["call_1", "I cannot help with that.", "\"method\":\"length\""] {
        assert!(methods.contains(part), "{part} in {methods}");
    }
    // The same for lines that are given to `check --jsonl`.
    place.ok("export latest answers.jsonl --as exchanges");
    let mut command = place.command();
    command.args(["check", "--jsonl", "-", "--json", "--parser-cmd", "python3 filter.py"]);
    command.stdin(std::fs::File::open(place.path("answers.jsonl")).unwrap());
    let parsed = super::streaming::objects(&crate::support::cli::Said::ended(&mut command));
    let values: Vec<&Value> = parsed.iter().map(|it| &it["value"]).collect();
    let calls = json!(["call_1"]);
    let refusal = json!("I cannot help with that.");
    let (good, none) = (json!(GOOD), json!(""));
    assert_eq!(values, [&calls, &refusal, &good, &none, &none, &good]);
}

#[test]
fn no_part_of_an_answer_holds_the_key() {
    let place = Place::new();
    let key = "sk-live-0123456789abcdefSECRET";
    let body = completion(
        json!({"content": GOOD, "tool_calls": [{"id": key}], key: "name"}),
        json!({"logprobs": {"content": key.as_bytes().chunks(3).map(|token| {
            json!({"token": std::str::from_utf8(token).unwrap()})
        }).collect::<Vec<_>>()}, "note": key}),
        json!({"prompt_tokens": 1, "completion_tokens": 1, "note": key}),
    );
    let mut body = body;
    for field in ["id", "system_fingerprint", "service_tier", "provider"] {
        body[field] = key.into();
    }
    let server = Server::handler(move |_| Reply::new(200, body.to_string()));
    let mut command = place.command();
    command.args(["run", "small.yaml", "--base-url", &server.base_url()]);
    let said = crate::support::cli::Said::ended(command.env("OPENAI_API_KEY", key));
    assert_eq!(said.code, 0, "{}", said.err);
    let log = place.ok("log latest --json");
    assert!(!log.contains("SECRET"), "{log}");
    let body = &events(&place, "log latest", "ResponseReceived")[0]["body"];
    assert_eq!((&body["id"], &body["service_tier"]), (&"[key]".into(), &"[key]".into()));
    assert_eq!(body["extra"]["logprobs"], "[key]", "its tokens spell it");
    assert_eq!(body["extra"]["[key]"], "name");
}

#[test]
fn responses_that_cannot_be_taken_are_explained() {
    let place = Place::new();
    let import = |response: Value, label: Value| {
        let mut line = json!({"request": {"model": "m", "messages": []}, "response": response});
        if !label.is_null() {
            line["label"] = label;
        }
        place.write("wrong.jsonl", format!("{line}\n"));
        let said = place.run("import wrong.jsonl");
        assert_eq!(said.code, 2, "{line}: {}", said.out);
        said.err
    };
    let deep = (0..101).fold(json!(1), |inner, _| json!([inner]));
    let all = [
        import(json!({"contents": "x"}), Value::Null),
        import(json!({"content": 7}), Value::Null),
        import(json!({"content": "x", "extra": 7}), Value::Null),
        import(json!({"content": "x", "refusal": "a", "extra": {"refusal": "b"}}), Value::Null),
        import(json!({"content": "x", "extra": {"model": "m"}}), Value::Null),
        import(
            json!({"content": "x", "usage": {"odd": 1}, "extra": {"usage": {"odd": 1}}}),
            Value::Null,
        ),
        import(json!({"content": "x", "choices": [{"message": {"content": "y"}}]}), Value::Null),
        import(json!({"embedding": [1], "choices": []}), Value::Null),
        import(json!({"choices": []}), Value::Null),
        import(json!({"choices": [{"text": "legacy"}]}), Value::Null),
        import(json!({"choices": [{"message": {"content": 7}}]}), Value::Null),
        import(json!({"object": "list", "data": []}), Value::Null),
        import(json!({"error": {"message": "overloaded"}}), Value::Null),
        import(json!({"content": "x"}), json!({"n": 9_007_199_254_740_993_u64})),
        import(json!({"content": "x"}), deep),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// The prompt hash is that of one of the two values, and nobody knows which of them was answered.
#[test]
fn a_request_with_the_same_key_twice_is_refused() {
    let place = Place::new();
    for (line, key) in [
        (
            r#"{"request":{"model":"m","model":"n","messages":[]},"response":{"content":"x"}}"#,
            "model",
        ),
        (
            r#"{"request":{"messages":[{"content":"a","content":"b"}]},"response":{"content":"x"}}"#,
            "content",
        ),
        (r#"{"request":{"messages":[]},"response":{"content":"x","content":"y"}}"#, "content"),
        (r#"{"request":{},"response":{"content":"x"},"request":{}}"#, "request"),
    ] {
        place.write("twice.jsonl", format!("{line}\n"));
        let due = format!("the key \"{key}\" is given twice\n");
        for (command, hint) in [
            ("import twice.jsonl", "  hint: nothing was imported\n"),
            ("check twice.jsonl --parser game24@2", ""),
        ] {
            let said = place.run(command);
            assert_eq!((said.code, said.out.as_str()), (2, ""), "{line}: {}", said.err);
            assert!(said.err.starts_with("error: twice.jsonl, line 1: column "), "{}", said.err);
            assert!(said.err.ends_with(&format!(": {due}{hint}")), "{line}: {}", said.err);
        }
    }
}

#[test]
fn a_body_of_the_responses_api_is_refused_by_name() {
    let place = Place::new();
    let import = |request: Value| {
        let line = json!({"request": request, "response": {"content": "x"}});
        place.write("wrong.jsonl", format!("{line}\n"));
        let said = place.run("import wrong.jsonl");
        assert_eq!(said.code, 2, "{line}: {}", said.out);
        said.err
    };
    let all = [
        import(json!({"model": "m", "input": "x", "instructions": "Be brief."})),
        import(json!({"model": "m", "input": "x", "max_output_tokens": 5})),
        import(json!({"model": "m", "input": [{"role": "user", "content": "x"}]})),
        import(json!({"model": "m", "instructions": "Be brief."})),
    ];
    insta::assert_snapshot!(all.join("\n"));
    // Embeddings are unchanged.
    let request =
        json!({"model": "m", "input": ["a"], "dimensions": 2, "encoding_format": "float"});
    let line = json!({"request": request, "response": {"embedding": [1.0, 2.0]}});
    place.write("fine.jsonl", format!("{line}\n"));
    place.ok("import fine.jsonl");
}

#[test]
fn replies_of_other_apis_are_taken_or_refused_by_name() {
    let place = Place::new();
    let import = |response: &Value| {
        let line = json!({"request": {"model": "m", "messages": []}, "response": response});
        place.write("pasted.jsonl", format!("{line}\n"));
        place.run("import pasted.jsonl")
    };
    let refused = [
        json!({"id": "resp_1", "object": "response", "status": "completed", "reasoning": {"effort": null},
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "x"}]}]}),
        json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}], "usageMetadata": {}}),
        json!({"model": "m", "message": {"role": "assistant", "content": "x"}, "done": true}),
        json!({"model": "m", "response": "x", "thinking": "t", "done": true, "done_reason": "stop"}),
    ];
    let said = refused.iter().map(|reply| {
        let said = import(reply);
        assert_eq!(said.code, 2, "{reply}: {}", said.out);
        said.err
    });
    insta::assert_snapshot!(said.collect::<String>());
    let anthropic = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": GOOD}], "stop_reason": "max_tokens", "stop_sequence": null,
        "usage": {"input_tokens": 9, "output_tokens": 4},
    });
    assert_eq!(import(&anthropic).code, 0);
    let due = json!({"id": "msg_1", "model": "claude", "finish_reason": "max_tokens",
        "prompt_tokens": 9, "completion_tokens": 4});
    assert_eq!(answers(&place, ""), [(GOOD.to_owned(), due)]);
    // A second export and import change nothing.
    place.ok("export latest again.jsonl --as exchanges");
    place.ok("--log again.db import again.jsonl");
    assert_eq!(answers(&place, "--log again.db"), answers(&place, ""));
}

/// Parts of an answer other than its text are shown, and none of them affects the terminal.
#[test]
fn an_answer_without_a_text_shows_what_it_has() {
    let place = Place::new();
    let calls = json!([
        {"id": "call_1", "type": "function", "function": {"name": "calc", "arguments": "{\"a\": 4,\n\"b\": 6}"}},
        {"id": "call_2", "type": "function", "function": {"name": "clear\u{1b}[2J", "arguments": "\u{7}"}},
        {"odd": true},
    ]);
    let bodies = [
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "t", "name": "search", "input": {"q": "24"}}]}),
        json!({"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": "{}"}}),
    ];
    let lines = bodies.iter().enumerate().map(|(n, message)| {
        let reply = json!({"choices": [{"index": 0, "message": message}]});
        let line = json!({"call": format!("a/{n}"), "request": {"model": "m", "messages": []}, "response": reply});
        format!("{line}\n")
    });
    place.write("calls.jsonl", lines.collect::<String>());
    place.ok("import calls.jsonl");
    let mut shown = String::new();
    for n in 0..bodies.len() {
        let said = place.ok(&format!("show latest a/{n}"));
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{said}");
        let (_, answer) = said.split_once("\nanswer  ").unwrap();
        let (answer, _) = answer.split_once("\nprompt  ").unwrap();
        shown.push_str(&format!("answer  {answer}\n"));
    }
    crate::support::cli::assert_said!("whole_shown", shown);
}

#[test]
fn a_pasted_list_of_texts_is_joined() {
    let place = Place::new();
    let line = json!({"call": "a", "request": {"model": "m", "messages": []},
        "response": {"content": ["A", "B"]}});
    place.write("pasted.jsonl", format!("{line}\n"));
    place.ok("import pasted.jsonl");
    assert_eq!(answers(&place, ""), [("AB".to_owned(), json!({}))]);
}

/// Anthropic says so in the reason for which the answer ended, and nowhere else.
#[test]
fn an_answer_that_ended_as_a_refusal_is_shown_as_refused() {
    let place = Place::new();
    let reply = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [], "stop_reason": "refusal"});
    let line = json!({"call": "a", "request": {"model": "m", "messages": []}, "response": reply});
    place.write("refused.jsonl", format!("{line}\n"));
    place.ok("import refused.jsonl");
    let said = place.ok("show latest a");
    let (_, answer) = said.split_once("\nanswer  ").unwrap();
    let (answer, _) = answer.split_once("\nprompt  ").unwrap();
    assert_eq!(
        answer.lines().nth(1),
        Some("  refused: the model or a filter of its provider ended the answer")
    );
    let run = place.ok("show latest");
    assert!(!run.contains("blank"), "{run}");
}

/// Some events are read more than once: for the numbers, the state, and what was accepted since.
#[test]
fn no_more_events_are_checked_than_there_are() {
    let place = Place::new();
    place.ok(&format!(
        "run {}/config/deliberation_small.yaml --no-outputs --quiet",
        env!("RETOLD_ROOT")
    ));
    let (shown, _) = place.json("show latest");
    assert_eq!(shown["checked_events"], shown["events"], "{shown}");
    for command in
        ["audit latest final_vote/p_0004", "show latest p_0004", "audit latest --independence"]
    {
        let said = place.ok(command);
        let read = said.split("checked: ").nth(1).unwrap().split(' ').next().unwrap();
        let read: u64 = read.replace(',', "").parse().unwrap();
        assert!(read <= shown["events"].as_u64().unwrap(), "{command}: {said}");
    }
}
