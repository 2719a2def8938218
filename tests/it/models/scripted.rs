//! Answers from an exchanges file: by address, in file order, and the messages when there is no
//! answer.

use std::convert::Infallible;

use retold::id::CallPath;
use retold::model::{Ask, Content, Failure, FailureKind, Model, Response, ScriptedModel};
use retold::prompt::Request;
use serde_json::{Value, json};

use super::ask_at;
use crate::support::block_on;

fn load(lines: &[Value]) -> Result<ScriptedModel, String> {
    load_text(&lines.iter().map(Value::to_string).collect::<Vec<_>>())
}

fn load_text(lines: &[String]) -> Result<ScriptedModel, String> {
    let numbered = lines.iter().enumerate().map(|(i, l)| Ok::<_, Infallible>((i + 1, l.clone())));
    ScriptedModel::from_lines("answers.jsonl", numbered).map_err(|e| e.to_string())
}

fn body(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

fn request(body: Value) -> Request {
    Request::from_body(body).unwrap()
}

fn answer(
    model: &ScriptedModel,
    body: Value,
    call: &str,
    sample: u32,
) -> Result<Response, Failure> {
    block_on(ask_at(model, &request(body), call, sample, 0))
}

fn text(model: &ScriptedModel, body: Value, call: &str, sample: u32) -> String {
    answer(model, body, call, sample).unwrap().content.text().to_owned()
}

fn miss(model: &ScriptedModel, body: Value, call: &str, sample: u32) -> String {
    let failure = answer(model, body, call, sample).unwrap_err();
    assert_eq!((failure.kind, failure.status), (FailureKind::NoAnswer, None));
    failure.message
}

#[test]
fn an_address_is_answered_as_often_as_it_is_asked() {
    let model = load(&[
        json!({"call": "a", "sample": 1, "request": body("p"), "response": {"content": "a1"}}),
        json!({"call": "a", "sample": 0, "request": body("p"), "response": {"content": "a0"}}),
        json!({"call": "b", "sample": 0, "request": body("p"), "response": {"content": "b0"}}),
    ])
    .unwrap();
    for _ in 0..2 {
        assert_eq!(text(&model, body("p"), "a", 0), "a0");
        assert_eq!(text(&model, body("p"), "a", 1), "a1");
        assert_eq!(text(&model, body("p"), "b", 0), "b0");
    }
    assert_eq!((model.len(), model.prompts()), (3, 1));
}

#[test]
fn samples_are_counted_by_call_and_prompt() {
    let line = |call: &str, prompt: &str, content: &str| json!({"call": call, "request": body(prompt), "response": {"content": content}});
    let model = load(&[
        line("a", "p", "a p 0"),
        line("a", "q", "a q 0"),
        line("b", "p", "b p 0"),
        line("a", "p", "a p 1"),
    ])
    .unwrap();
    assert_eq!(text(&model, body("p"), "a", 1), "a p 1");
    assert_eq!(text(&model, body("q"), "a", 0), "a q 0");
    assert_eq!(text(&model, body("p"), "b", 0), "b p 0");
}

#[test]
fn lines_without_a_call_serve_once_in_file_order() {
    let line = |content: &str| json!({"request": body("p"), "response": {"content": content}});
    let model = load(&[line("first"), line("second")]).unwrap();
    assert_eq!(text(&model, body("p"), "x", 0), "first");
    assert_eq!(text(&model, body("p"), "y", 7), "second");
    insta::assert_snapshot!(miss(&model, body("p"), "z", 0));
}

#[test]
fn all_fields_of_a_response_are_kept() {
    let model = load(&[
        json!({"call": "c", "request": body("p"), "label": 24, "response": {
            "content": "x", "finish_reason": "stop", "model": "m-1", "id": "an-id",
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
            "refusal": null, "tool_calls": [1]}}),
        json!({"call": "r", "request": body("p"), "response": {"content": null, "refusal": "no"}}),
        json!({"call": "e", "request": {"model": "m", "input": "t"},
            "response": {"embedding": [0.1, -2, 3e-5]}}),
    ])
    .unwrap();
    insta::assert_debug_snapshot!(answer(&model, body("p"), "c", 0).unwrap());
    assert_eq!(answer(&model, body("p"), "r", 0).unwrap().extra["refusal"], "no");
    let vector = answer(&model, json!({"model": "m", "input": "t"}), "e", 0).unwrap();
    assert_eq!(vector.content, Content::Vector([0.1f32, -2.0, 3e-5].into()));
}

#[test]
fn a_miss_names_what_is_nearest() {
    let chat = |messages: &[(&str, &str)]| {
        let messages: Vec<Value> =
            messages.iter().map(|(r, c)| json!({"role": r, "content": c})).collect();
        json!({"model": "m", "temperature": 1, "messages": messages})
    };
    let rules = "You take part in a public goods game with 4 players and 10 rounds.";
    let asked = chat(&[("system", rules), ("user", "Round 3: how much do you contribute?")]);
    let line = |call: &str, sample: u32, request: &Value| json!({"call": call, "sample": sample, "request": request, "response": {"content": "x"}});
    let recorded = |request: Value| load(&[line("play/3/ann", 0, &request)]).unwrap();
    let mut texts = vec![];
    let mut note = |name: &str, model: &ScriptedModel, call: &str, sample: u32| {
        texts.push(format!("== {name}\n{}", miss(model, asked.clone(), call, sample)));
    };

    let model = recorded(chat(&[
        ("system", &rules.replace("10 rounds", "12 rounds")),
        ("user", "Round 3: how much do you contribute?"),
    ]));
    note("another message", &model, "play/3/ann", 0);

    let model = recorded(chat(&[("system", rules), ("assistant", "Round 3: how much?")]));
    note("another role", &model, "play/3/ann", 0);

    let model = recorded(chat(&[("system", rules)]));
    note("a message more", &model, "play/3/ann", 0);

    let mut cooler = asked.clone();
    cooler["temperature"] = json!(0.7);
    note("another temperature", &recorded(cooler), "play/3/ann", 0);

    let mut seeded = asked.clone();
    seeded["seed"] = json!(7);
    note("a parameter less", &recorded(seeded), "play/3/ann", 0);

    let model = load(&[
        line("play/3/ann", 0, &chat(&[("user", "something else")])),
        line("play/3/ann", 0, &chat(&[("system", rules), ("user", "Round 2: how much?")])),
    ])
    .unwrap();
    note("two other prompts", &model, "play/3/ann", 0);

    let lines: Vec<Value> = (0..100).map(|i| line("play/3/ann", i, &asked)).collect();
    note("a sample too many", &load(&lines).unwrap(), "play/3/ann", 100);

    let lines: Vec<Value> = (0..5).map(|i| line(&format!("play/{i}/bob"), 0, &asked)).collect();
    note("under other calls", &load(&lines).unwrap(), "play/3/ann", 0);

    let other = chat(&[("user", "something else")]);
    let lines: Vec<Value> = ["a/1", "b/2", "play/4/ann", "z/9"].map(|c| line(c, 0, &other)).into();
    note("nothing alike", &load(&lines).unwrap(), "play/3/ann", 0);

    note("an empty file", &load(&[]).unwrap(), "play/3/ann", 0);

    let hostile = chat(&[("system", rules), ("user", "Round \u{1b}[2J\u{202e}3")]);
    note("hostile text", &recorded(hostile), "play/3/ann", 0);

    insta::assert_snapshot!(texts.join("\n\n"));
}

#[test]
fn lines_that_cannot_be_used_are_named() {
    let good =
        json!({"call": "a", "sample": 0, "request": body("p"), "response": {"content": "x"}});
    let refused = |line: String| load_text(&[good.to_string(), line]).unwrap_err();
    let with = |field: &str, value: Value| {
        let mut line = good.clone();
        line["sample"] = json!(1);
        line[field] = value;
        refused(line.to_string())
    };
    let mut no_call = good.clone();
    no_call.as_object_mut().unwrap().remove("call");
    let all = [
        refused("{".to_owned()),
        refused("[]".to_owned()),
        refused(good.to_string()),
        refused(r#"{"request":{}}"#.to_owned()),
        refused(no_call.to_string()),
        with("smaple", json!(1)),
        with("call", json!("a//b")),
        with("sample", json!(-1)),
        with("request", json!({})),
        with("request", json!({"input": "x"})),
        with("request", json!({"messages": [], "seed": 9_007_199_254_740_993u64})),
        with("response", json!({})),
        with("response", json!({"content": "x", "embedding": [1]})),
        with("response", json!({"embedding": []})),
        with("response", json!({"embedding": [1e39]})),
        with("response", json!({"content": 7})),
        with("error", json!(7)),
        with("error", json!({"failure": "server", "message": "no", "status": 70_000})),
        with("error", json!({"failure": "server", "message": "no", "status": "x".repeat(99)})),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

/// 10,000 lines of 100 different requests: what the file repeats is kept once.
#[test]
fn large_files_are_loaded() {
    let lines: Vec<String> = (0..10_000)
        .map(|i| {
            let prompt = format!("{} {}", i % 100, "use the four numbers once each. ".repeat(40));
            let call = format!("solve/{}", i % 100);
            json!({"call": call, "request": body(&prompt), "response": {"content": "x"}})
                .to_string()
        })
        .collect();
    let model = load_text(&lines).unwrap();
    assert_eq!((model.len(), model.prompts()), (10_000, 100));
    let call = CallPath::new("solve/7").unwrap();
    let prompt = format!("7 {}", "use the four numbers once each. ".repeat(40));
    let asked = request(body(&prompt));
    for sample in [0, 99] {
        let ask = Ask { request: &asked, call: &call, sample, attempt: 0 };
        assert!(block_on(model.answer(ask)).is_ok());
    }
}
