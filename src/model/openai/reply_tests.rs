use std::time::UNIX_EPOCH;

use reqwest::header::{HeaderName, HeaderValue};

use super::*;
use crate::model::openai::chat;

fn reply(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Reply {
    let headers = headers
        .iter()
        .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
        .collect();
    Reply { status, headers, body: body.as_bytes().to_vec(), at: UNIX_EPOCH }
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
fn an_answer_keeps_what_is_listed_and_drops_the_rest() {
    let body = serde_json::json!({
        "id": "chatcmpl-1", "system_fingerprint": "fp", "model": "gpt-x-2026",
        "choices": [{
            "index": 0, "logprobs": null, "finish_reason": "tool_calls",
            "message": {
                "role": "assistant", "content": null, "refusal": null, "annotations": [],
                "tool_calls": [{"id": "call_1"}]
            }
        }],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    });
    insta::assert_debug_snapshot!(chat::response(&body).unwrap());
}

#[test]
fn content_may_be_a_list_of_parts() {
    let read = |content: Value| {
        chat::response(&serde_json::json!({"choices": [{"message": {"content": content}}]}))
    };
    let parts = serde_json::json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    let answer = read(parts).unwrap();
    assert_eq!((answer.content.text(), answer.extra.len()), ("ab", 0));
    let mixed = serde_json::json!([{"type": "thinking", "thinking": []}, {"text": "b"}]);
    let answer = read(mixed.clone()).unwrap();
    assert_eq!((answer.content.text(), &answer.extra["content_parts"]), ("b", &mixed));
    assert_eq!(read(Value::Bool(true)).unwrap_err().kind, FailureKind::Malformed);
}

#[test]
fn an_answer_without_a_message_is_malformed() {
    let said =
        |body: &str| chat::response(&serde_json::from_str(body).unwrap()).unwrap_err().message;
    let all = [
        said("{}"),
        said("[]"),
        said(r#"{"choices":[]}"#),
        said(r#"{"choices":[{"text":"legacy"}]}"#),
    ];
    insta::assert_snapshot!(all.join("\n"));
}
