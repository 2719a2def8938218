use http::Method;
use proptest::prelude::*;
use retold_wire::Incoming;
use serde_json::json;

use super::*;
use crate::exchange::{TrafficAnswer, TrafficQuestion};
use crate::json_style::JsonStyle;
use crate::yaml::{Schema, read};

fn exchange(request: Json, answers: &[Vec<u8>]) -> CassetteExchange {
    let answer = |bytes: &Vec<u8>| CassetteAnswer {
        kept: Transmission { status: 200, ..Transmission::default() },
        bytes: bytes.clone(),
        body: CassetteBody::new(bytes),
        failed: None,
        left: None,
    };
    CassetteExchange {
        call: None,
        labels: Labels::default(),
        json: Some(readable(&request)),
        asked: RestoredRequest {
            upstream: "openai".to_owned(),
            method: Method::POST,
            path: "/chat/completions".to_owned(),
            query: None,
            headers: Vec::new(),
            body: RestoredBody::Json(request),
        },
        answers: answers.iter().map(answer).collect(),
        varying: NamedValues::beginning_with("hash", "f1bd1b5b699b536c"),
    }
}

/// The body of a request, and of each of its answers.
type RequestAndAnswers = (Json, Vec<Vec<u8>>);

/// The text of a cassette, and what is read of it: each request, and the bytes of its answers.
fn written(of: &[RequestAndAnswers]) -> (String, Vec<RequestAndAnswers>) {
    let mut exchanges: Vec<_> =
        of.iter().map(|(request, answers)| exchange(request.clone(), answers)).collect();
    let text = text(&mut exchanges, &ProgramSettings::default());
    let node = read(&text, Schema::Yaml11).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let file = crate::format::cassette::read(&node[0], &mut Notes::default());
    let file = file.unwrap_or_else(|(place, wrong)| panic!("{place:?}: {wrong}\n{text}"));
    let of_exchange = |exchange: crate::exchange::TrafficExchange| {
        let TrafficQuestion::Kept { incoming, .. } = exchange.asked else { panic!("{text}") };
        let Incoming { body, .. } = *incoming;
        let answers = exchange.answers.into_iter().map(|answer| match answer {
            TrafficAnswer::Http { body, .. } => body.to_vec(),
            other => panic!("{other:?}"),
        });
        (serde_json::from_slice(&body).unwrap(), answers.collect())
    };
    let read = file.exchanges.into_iter().map(of_exchange).collect();
    (text, read)
}

const LONG: &str = "You are a mayor who answers in one sentence.";

/// Trees with the fields and texts that a cassette takes apart.
fn tree() -> impl Strategy<Value = Json> {
    let texts = [LONG, "{{id}}", "{{text}}", "{{user-1}}", "{{", "model", "chatcmpl-1", "", "a\nb"];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        prop::sample::select(texts.to_vec()).prop_map(Json::from),
        "\\PC{0,3}".prop_map(Json::from),
    ];
    let names = [
        "id", "created", "usage", "call_id", "object", "role", "content", "tools", "instructions",
        "text", "hash", "signature", "model", "ä",
    ];
    leaf.prop_recursive(4, 32, 5, move |inner| {
        let name = prop::sample::select(names.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|fields| fields.into_iter().map(|(n, v)| (n.to_owned(), v)).collect()),
        ]
    })
}

/// A value in one of the layouts that are known.
fn laid_out(value: &Json, layout: &str) -> String {
    let value: LocatedValue = serde_json::from_str(&value.to_string()).unwrap();
    JsonStyle::by_name(layout).unwrap().text(&value)
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let layouts = ["compact", "spaced", "pretty", "compact-ascii", "spaced-ascii-newline"];
    let layout = prop::sample::select(layouts.to_vec());
    let line = (prop::sample::select(vec!["data: ", "data:", ""]), tree(), any::<bool>());
    let line = line.prop_map(|(prefix, value, is_spaced)| {
        format!("{prefix}{}", laid_out(&value, if is_spaced { "spaced" } else { "compact" }))
    });
    let line = prop_oneof![4 => line, 1 => Just("data: [DONE]".to_owned()), 1 => "\\PC{0,4}"];
    let ends = prop::sample::select(vec!["\n\n", "\r\n\r\n", "\n"]);
    prop_oneof![
        (tree(), layout).prop_map(|(value, layout)| laid_out(&value, layout).into_bytes()),
        (prop::collection::vec(line, 0..5), ends)
            .prop_map(|(lines, end)| (lines.join(end) + end).into_bytes()),
        any::<String>().prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..8),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_byte_for_byte(
        exchanges in prop::collection::vec((tree(), prop::collection::vec(body(), 1..3)), 1..4)
    ) {
        let of = |(tree, answers)| (json!({"model": "m", "messages": tree}), answers);
        let exchanges: Vec<_> = exchanges.into_iter().map(of).collect();
        let (text, read) = written(&exchanges);
        prop_assert_eq!(&read, &exchanges, "{}", text);
        // And what was read is written as it was.
        prop_assert_eq!(written(&read).0, text);
    }
}

fn chat(words: &str, number: u32) -> Vec<u8> {
    let value = json!({"id": format!("chatcmpl-{number}"), "created": 1_795_000_000 + number,
        "choices": [{"message": {"role": "assistant", "content": words, "tool_calls": [
            {"id": format!("call_{number}"), "function": {"name": "vote", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": number, "total_tokens": number}, "system_fingerprint": format!("fp_{number}")});
    value.to_string().into_bytes()
}

fn stream(words: &[&str], number: u32) -> Vec<u8> {
    let chunk = |word: &&str| {
        let value = json!({"id": format!("chatcmpl-{number}"), "created": number,
            "choices": [{"delta": {"content": word}}], "obfuscation": format!("x{word}{number}")});
        format!("data: {value}\r\n\r\n")
    };
    (words.iter().map(chunk).collect::<String>() + "data: [DONE]\r\n\r\n").into_bytes()
}

/// The lines of a text that another does not have.
fn lines_only_in<'a>(text: &'a str, other: &str) -> Vec<&'a str> {
    let others: Vec<&str> = other.lines().collect();
    text.lines().filter(|line| !others.contains(line)).collect()
}

#[test]
fn another_recording_differs_in_its_words_and_in_one_line_of_each_exchange() {
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "Yes or no?"}]});
    let of = |number, word| {
        let answers = vec![chat("yes", number), stream(&["Of", word], number)];
        written(&[(request.clone(), answers)]).0
    };
    let (one, other) = (of(1, " course."), of(2, " late."));
    let found = lines_only_in(&other, &one);
    assert_eq!(found.len(), 2, "{found:#?}\n{other}");
    assert!(
        found[0].contains(" late.") && found[1].starts_with("  varying: {hash: "),
        "{found:#?}"
    );
}

#[test]
fn a_prompt_and_tools_that_requests_share_stand_once_whatever_was_changed_in_them() {
    let tools = json!([{"type": "function", "function": {"name": "vote", "parameters": {"type": "object"}}}]);
    let ask = |prompt: &str, n: u32| {
        let messages = json!([{"role": "system", "content": prompt}, {"role": "user", "content": n.to_string()}]);
        (json!({"model": "m", "messages": messages, "tools": tools}), vec![chat("yes", n)])
    };
    let all = |prompt: &str| written(&(0..8).map(|n| ask(prompt, n)).collect::<Vec<_>>()).0;
    let (one, other) = (all(LONG), all(&LONG.replace("mayor", "judge")));
    assert_eq!(one.matches(LONG).count(), 1, "{one}");
    assert_eq!(one.matches("name: vote").count(), 9, "{one}");
    assert_eq!(
        lines_only_in(&other, &one),
        ["  system-1: \"You are a judge who answers in one sentence.\""]
    );
}

/// The id of an answer is taken out of the request that has it, and words that are equal to it are not.
#[test]
fn ids_come_back_in_requests() {
    let request = json!({"messages": [{"role": "user", "content": "call_1"},
        {"role": "tool", "tool_call_id": "call_1", "content": "done"}]});
    let (text, _) =
        written(&[(json!({"model": "m"}), vec![chat("a", 1)]), (request, vec![chat("b", 2)])]);
    assert!(
        text.contains("content: call_1") && text.contains("tool_call_id: \"{{tool_call_id}}\""),
        "{text}"
    );
    assert!(text.contains("tool_call_id: call_1"), "{text}");
}
