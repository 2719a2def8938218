//! Each misbehaviour of a server, and the exact failure that results.

use std::time::Duration;

use retold::model::openai::OpenAiSettings;
use retold::model::{Content, Failure, FailureKind, NamedUrl, OpenAi};

use super::{PATIENCE, ask, chat, openai, openai_within};
use crate::support::block_on;
use crate::support::server::{Reply, Server, nobody};

fn failure_of(reply: Reply) -> Failure {
    failure_within(reply, PATIENCE)
}

fn failure_within(reply: Reply, timeout: Duration) -> Failure {
    let server = Server::script([reply]);
    let model = openai_within(&server, timeout);
    let failure = block_on(ask(&model, &chat("2 + 2?"), 0)).unwrap_err();
    assert_eq!(server.received().len(), 1, "one attempt is one request");
    failure
}

/// Snapshots the failure that a reply causes, without port and system error numbers.
macro_rules! assert_failure {
    ($name:literal, $reply:expr) => {
        assert_failure!($name, $reply, PATIENCE)
    };
    ($name:literal, $reply:expr, $timeout:expr) => {{
        let failure = failure_within($reply, $timeout);
        insta::with_settings!({filters => vec![
            (r"127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
            (r"os error \d+", "os error [n]"),
        ]}, {
            insta::assert_debug_snapshot!($name, failure);
        });
    }};
}

#[test]
fn a_good_answer_is_taken_apart() {
    let server = Server::script([Reply::chat("4")]);
    let model = openai(&server);
    let response = block_on(ask(&model, &chat("2 + 2?"), 0)).unwrap();
    assert_eq!(response.content, Content::Text("4".into()));
    assert_eq!(response.finish_reason.as_deref(), Some("stop"));
    assert_eq!(response.model.as_deref(), Some("test-model-1"));
    let usage = response.usage.unwrap();
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(5), Some(2)));
    let sent = &server.received()[0];
    assert_eq!((sent.method.as_str(), sent.target.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(sent.header("authorization"), Some(format!("Bearer {}", super::KEY).as_str()));
    assert_eq!(&sent.json(), chat("2 + 2?").body());
}

#[test]
fn too_many_requests() {
    let limited = || Reply::error(429, "rate_limit_exceeded", "Rate limit reached.");
    assert_failure!("429", limited());
    assert_failure!("429_retry_after_seconds", limited().header("retry-after", "7"));
    assert_failure!("429_retry_after_ms", limited().header("retry-after-ms", "1250"));
}

#[test]
fn retry_after_may_be_a_date() {
    let later = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    let date = httpdate::fmt_http_date(later);
    let limited = |date: &str| Reply::error(429, "x", "m").header("retry-after", date);
    let asked = failure_of(limited(&date)).retry_after.unwrap();
    assert!(asked > Duration::from_secs(1_000_000_000), "{asked:?}");
    let past = failure_of(limited("Sun, 06 Nov 1994 08:49:37 GMT")).retry_after;
    assert_eq!(past, Some(Duration::ZERO));
}

#[test]
fn quota() {
    assert_failure!("quota", Reply::error(429, "insufficient_quota", "You exceeded your quota."));
}

#[test]
fn errors_of_the_service() {
    assert_failure!("500", Reply::new(500, "oops").header("content-type", "text/plain"));
    assert_failure!("503_cut", Reply::new(503, "the service is down").cut_after(7));
    assert_failure!("503_retry_after", Reply::new(503, "").header("retry-after", "1.5"));
}

#[test]
fn errors_of_ours() {
    assert_failure!("400", Reply::error(400, "context_length_exceeded", "8193 tokens."));
    assert_failure!("401", Reply::error(401, "invalid_api_key", "Incorrect API key."));
    assert_failure!("404", Reply::new(404, "<html>not here</html>"));
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Server::script([Reply::chat("stolen")]);
    let target = format!("{}/chat/completions", elsewhere.base_url());
    assert_failure!("307", Reply::new(307, "").header("location", &target));
    assert!(elsewhere.received().is_empty());
}

#[test]
fn bodies_that_are_not_answers() {
    assert_failure!("malformed", Reply::new(200, r#"{"choices": [}"#));
    assert_failure!("truncated_json", Reply::new(200, r#"{"choices": [{"mess"#));
    assert_failure!("empty", Reply::new(200, ""));
    assert_failure!("not_utf8", Reply::new(200, b"{\"model\": \"\xFF\"}".to_vec()));
    assert_failure!("no_choices", Reply::new(200, r#"{"object": "chat.completion"}"#));
    let page = Reply::new(200, "<h1>Log in</h1>").header("content-type", "text/html");
    assert_failure!("wrong_content_type", page);
}

#[test]
fn connections_that_break() {
    assert_failure!("reset", Reply::reset());
    assert_failure!("reset_in_the_body", Reply::chat("4").reset_after(20));
    assert_failure!("cut_in_the_body", Reply::chat("4").cut_after(20));
}

#[test]
fn slow_answers() {
    let (long, short) = (Duration::from_secs(30), Duration::from_millis(500));
    assert_failure!("slow_body", Reply::chat("4").slow_body(long), short);
    assert_failure!("slow_start", Reply::chat("4").slow_start(long), short);
}

#[test]
fn nobody_listens() {
    let (base_url, _reserved) = nobody();
    let base_url = NamedUrl::from_user(base_url);
    let settings = OpenAiSettings { base_url, key: None, timeout: PATIENCE, tier: None };
    let model = OpenAi::new(settings).unwrap();
    let failure = block_on(ask(&model, &chat("2 + 2?"), 0)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Connection);
    assert!(failure.message.starts_with("cannot connect to http://127.0.0.1:"), "{failure}");
}
