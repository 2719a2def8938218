use std::time::UNIX_EPOCH;

use reqwest::header::{HeaderName, HeaderValue};

use super::*;
use crate::model::providers::openai_chat::completion;

fn reply(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> HttpReply {
    let headers = headers
        .iter()
        .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
        .collect();
    HttpReply { status, headers, body: body.as_bytes().to_vec(), at: UNIX_EPOCH }
}

fn secrets() -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add("sk-secret-0123456789");
    secrets
}

fn failure(status: u16, body: &str) -> Failure {
    reply(status, &[], body).into_json(&secrets()).unwrap_err()
}

#[test]
fn every_status_has_its_kind() {
    let quota = r#"{"error":{"message":"m","type":"insufficient_quota"}}"#;
    let billing = r#"{"error":{"message":"m","code":"billing_hard_limit_reached"}}"#;
    let cases = [
        (301, "", FailureKind::Rejected),
        (400, "", FailureKind::Rejected),
        (400, billing, FailureKind::QuotaExhausted),
        (401, "", FailureKind::Unauthorized),
        (402, "", FailureKind::QuotaExhausted),
        (403, "", FailureKind::Unauthorized),
        (404, "", FailureKind::Rejected),
        (408, "", FailureKind::Server),
        (409, "", FailureKind::Server),
        (422, "", FailureKind::Rejected),
        (425, "", FailureKind::Server),
        (429, "", FailureKind::RateLimited),
        (429, "not json", FailureKind::RateLimited),
        (429, quota, FailureKind::QuotaExhausted),
        (429, billing, FailureKind::QuotaExhausted),
        (500, "", FailureKind::Server),
        (529, "", FailureKind::Server),
    ];
    for (status, body, kind) in cases {
        let failure = failure(status, body);
        assert_eq!((failure.kind, failure.status), (kind, Some(status)), "{status} {body}");
    }
}

#[test]
fn messages_are_short_inert_and_without_the_key() {
    let long = format!("{} sk-secret-0123456789", "x".repeat(490));
    let all = [
        failure(401, r#"{"error":{"message":"Incorrect key: sk-secret-0123456789."}}"#).message,
        failure(401, r#"{"error":{"message":"Incorrect key: \u0073k-secret-0123456789."}}"#)
            .message,
        failure(500, "\u{1b}[2J<html>sk-secret-0123456789\r\n").message,
        failure(500, &long).message,
        failure(400, r#"{"error":"a plain text"}"#).message,
        failure(400, r#"{"message":"another shape"}"#).message,
        failure(503, "").message,
        reply(302, &[("location", "https://evil.example/?k=sk-secret-0123456789")], "")
            .into_json(&secrets())
            .unwrap_err()
            .message,
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_success_must_be_json() {
    let read = |headers: &[(&'static str, &'static str)], body: &str| {
        reply(200, headers, body).into_json(&secrets())
    };
    assert!(read(&[], " \n{}").is_ok());
    assert!(read(&[("content-type", "application/json; charset=utf-8")], "{}").is_ok());
    let said = |headers: &[(&'static str, &'static str)], body| {
        let failure = read(headers, body).unwrap_err();
        format!("{:?} {}", failure.kind, failure.message)
    };
    let all = [
        said(&[("content-type", "text/html")], "<h1>It works!</h1>"),
        said(&[], r#"{"choices":[{"mess"#),
        said(&[], ""),
        said(&[], "{]"),
        said(&[], r#"{"error":{"code":429,"message":"upstream is busy"}}"#),
        said(&[], r#"{"error":{"code":"x","message":"upstream is odd"}}"#),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn everything_that_an_answer_says_is_kept_once() {
    let body = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000,
        "system_fingerprint": "fp", "service_tier": "flex", "model": "gpt-x-2026",
        "citations": ["https://example.org"], "x": null,
        "choices": [{
            "index": 0, "finish_reason": "tool_calls", "native_finish_reason": "TOOL",
            "logprobs": {"content": [{"token": "a", "logprob": -0.25}]},
            "message": {
                "role": "assistant", "content": null, "refusal": null, "annotations": [],
                "tool_calls": [{"id": "call_1"}], "audio": {"id": "a", "data": "AA=="},
                "reasoning": "r", "reasoning_details": [{"text": "r"}], "unreadable": "not ours"
            }
        }],
        "usage": {
            "prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.5,
            "prompt_tokens_details": {"cached_tokens": 2, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 1, "audio_tokens": 6}
        }
    });
    insta::assert_debug_snapshot!(completion(&body).unwrap());
}

#[test]
fn parts_that_could_not_be_read_back_are_kept_as_text() {
    let nested = |levels: usize| (0..levels).fold(Value::from("x"), |inner, _| vec![inner].into());
    let body =
        |part: Value| serde_json::json!({"choices": [{"message": {"content": "a", "p": part}}]});
    let kept = |part: Value| completion(&body(part)).unwrap().extra["p"].clone();
    assert_eq!(kept(nested(100)), nested(100));
    assert_eq!(kept(nested(101)), Value::from(nested(101).to_string()));
}

#[test]
fn content_may_be_a_list_of_parts() {
    let read = |content: Value| {
        completion(&serde_json::json!({"choices": [{"message": {"content": content}}]}))
    };
    let parts = serde_json::json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let answer = read(parts).unwrap();
    assert_eq!((answer.content.text(), answer.extra.len()), ("ab", 0));
    let mixed = serde_json::json!([{"type": "thinking", "thinking": []}, {"text": "b"}]);
    let answer = read(mixed.clone()).unwrap();
    assert_eq!(answer.content.text(), "b");
    let kept = serde_json::json!([{"type": "thinking", "thinking": []}, {"text_at": [0, 1]}]);
    assert_eq!(answer.extra["content_parts"], kept, "no text is kept twice");
    let strings = read(serde_json::json!(["A", "B"])).unwrap();
    assert_eq!((strings.content.text(), strings.extra.len()), ("AB", 0));
    let among = read(serde_json::json!(["A", {"type": "image"}, "B"])).unwrap();
    assert_eq!(among.content.text(), "AB");
    let kept = serde_json::json!([{"text_at": [0, 1]}, {"type": "image"}, {"text_at": [1, 2]}]);
    assert_eq!(among.extra["content_parts"], kept);
    let error = read(Value::Bool(true)).unwrap_err();
    assert_eq!(Failure::from(error).kind, FailureKind::Malformed);
}

#[test]
fn an_answer_without_a_message_is_malformed() {
    let said = |body: &str| {
        Failure::from(completion(&serde_json::from_str(body).unwrap()).unwrap_err()).message
    };
    let all = [
        said("{}"),
        said("[]"),
        said(r#"{"choices":[]}"#),
        said(r#"{"choices":[{"text":"legacy"}]}"#),
    ];
    insta::assert_snapshot!(all.join("\n"));
}
