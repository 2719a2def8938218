//! The key appears nowhere: not in failures, not in answers, not in diagnostics at the most verbose
//! level.

use std::io::Write;
use std::sync::{Arc, Mutex};

use retold::model::openai::OpenAiSettings;
use retold::model::{NamedUrl, OpenAi};

use super::{KEY, PATIENCE, ask, chat, openai};
use crate::support::block_on;
use crate::support::server::{Received, Reply, Server, nobody};

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sends the whole request back, with the key in every part of a response that can hold it.
fn echo(request: &Received) -> [Reply; 8] {
    let key = request.header("authorization").unwrap().replace("Bearer ", "");
    let answer = serde_json::json!({
        "model": key,
        "choices": [{
            "finish_reason": key,
            "message": {
                "content": format!("your key is {key}"),
                "refusal": key,
                "tool_calls": [{(key.clone()): [key]}],
            }
        }]
    });
    [
        Reply::error(401, "invalid_api_key", &format!("Incorrect API key provided: {key}.")),
        Reply::error(500, &key, &format!("{}{key}", "x".repeat(490))),
        Reply::new(400, format!("{request:?}")),
        Reply::new(200, format!("{{\"{key}\"")),
        Reply::new(200, key.clone()).header("content-type", &format!("text/{key}")),
        Reply::new(302, "").header("location", &format!("https://example.org/{key}")),
        Reply::new(200, format!("{{\"error\": \"{key}\"}}")),
        Reply::new(200, answer.to_string()),
    ]
}

#[test]
fn the_key_appears_nowhere() {
    let log = Log::default();
    let writer = log.clone();
    // Global, because the client logs through `log`, which only has a global logger. No other test
    // sets it.
    tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let mut turn = 0;
    let server = Server::handler(move |request| {
        turn += 1;
        echo(request)[turn - 1].clone()
    });
    let model = openai(&server);
    let mut seen = format!("{model:?} {model:#?} {:?}", retold::model::Model::info(&model));
    for attempt in 0..8 {
        let answer = block_on(ask(&model, &chat("2 + 2?"), attempt));
        assert_eq!(answer.is_ok(), attempt == 7, "{answer:?}");
        seen.push_str(&format!("{answer:?}\n"));
        if let Err(failure) = answer {
            seen.push_str(&format!("{failure}\n{}\n", serde_json::json!(failure.message)));
        }
    }
    assert!(server.received().iter().all(|r| r.header("authorization").unwrap().contains(KEY)));
    assert_absent(&seen, KEY);
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(logged.contains("TRACE"), "nothing was logged: the test is void");
    assert!(logged.contains("retold"), "our own lines are missing");
    assert_absent(&logged, KEY);
}

/// Asserts that neither the key nor a tenth of it beyond its public prefix occurs.
fn assert_absent(text: &str, key: &str) {
    for piece in [key, &key[..14], &key[14..]] {
        if let Some(at) = text.find(piece) {
            let from = text[..at].char_indices().rev().nth(200).map_or(0, |(i, _)| i);
            panic!("{piece} appears after: {}", &text[from..at]);
        }
    }
}

#[test]
fn a_password_and_a_query_of_the_base_url_are_not_shown() {
    let server = Server::handler(|request| Reply::new(400, format!("{request:?}")));
    let base_url = format!("http://alice:hunter2%21@{}/v1/?api-key=q5ecre7query", server.address());
    let base_url = NamedUrl::from_user(base_url);
    let settings = OpenAiSettings { base_url, key: None, timeout: PATIENCE, tier: None };
    let model = OpenAi::new(settings).unwrap();
    let failure = block_on(ask(&model, &chat("2 + 2?"), 0)).unwrap_err();
    let sent = &server.received()[0];
    assert_eq!(sent.target, "/v1/chat/completions?api-key=q5ecre7query");
    assert_eq!(sent.header("authorization"), Some("Basic YWxpY2U6aHVudGVyMiE="));
    let shown = format!("{failure:?} {model:?} {:?}", retold::model::Model::info(&model));
    for secret in ["hunter2", "q5ecre7query", "YWxpY2U6aHVudGVyMiE="] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    // The same if no server answers.
    let (base_url, _reserved) = nobody();
    let base_url = format!("{}?api-key=q5ecre7query", base_url.replace("//", "//alice:hunter2@"));
    let base_url = NamedUrl::from_user(base_url);
    let model =
        OpenAi::new(OpenAiSettings { base_url, key: None, timeout: PATIENCE, tier: None }).unwrap();
    let failure = block_on(ask(&model, &chat("2 + 2?"), 0)).unwrap_err();
    for secret in ["hunter2", "q5ecre7query"] {
        assert!(!format!("{failure:?}").contains(secret), "{failure}");
    }
}
