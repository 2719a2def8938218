//! Studies whose model speaks another API than chat completions: recorded with retries, cut off,
//! resumed and replayed; and which server gets the key.

use retold::id::RunId;
use serde_json::{Value, json};

use crate::support::cli::{Place, SMALL, Said, assert_said};
use crate::support::forge::{Listener, forged, recording, settings};
use crate::support::server::{Received, Reply, Server};

const KEY: &str = "sk-live-0123456789abcdefSECRET";

/// The kinds, each with the header of its key.
const KINDS: [(&str, &str); 3] =
    [("anthropic", "x-api-key"), ("gemini", "x-goog-api-key"), ("responses", "authorization")];

/// Runs a command with the keys of all providers in the environment.
fn with_keys(place: &Place, args: &str) -> Said {
    let mut command = place.command();
    command.args(args.split_whitespace());
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
        command.env(name, KEY);
    }
    Said::ended(&mut command)
}

/// A reply with a text, and its tokens: 5 and 7.
fn reply(kind: &str, text: &str) -> Reply {
    let body = match kind {
        "anthropic" => {
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-1", "stop_sequence": null,
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 7}})
        }
        "gemini" => {
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
            "modelVersion": "gemini-1", "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7}})
        }
        "responses" => {
            json!({"id": "resp_1", "object": "response", "model": "gpt-1", "status": "completed", "error": null,
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
            "usage": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}})
        }
        other => panic!("{other}"),
    };
    Reply::new(200, body.to_string())
}

/// Refuses every fourth request, and answers each of the others differently. What it answers has
/// the key in it, which a log must not have.
fn server(kind: &'static str) -> Server {
    let mut requests = 0;
    Server::handler(move |_| {
        requests += 1;
        if requests % 4 == 0 {
            let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": format!("busy, {KEY}")}});
            return Reply::new(529, error.to_string()).header("retry-after-ms", "1");
        }
        reply(kind, &format!("{requests}: {KEY}\nAnswer: (10 - 4) * 4 = 24"))
    })
}

fn study(place: &Place, kind: &str, url: &str) {
    let model = format!("model: {{kind: {kind}, base_url: \"{url}\"}}\n");
    place.write("study.yaml", SMALL.to_owned() + &model);
}

#[test]
fn a_study_asks_other_apis() {
    for (kind, header) in KINDS {
        let (place, server) = (Place::new(), server(kind));
        let url = format!("http://{}", server.address());
        study(&place, kind, &url);
        let stopped = with_keys(&place, "run study.yaml --quiet --max-tokens 30");
        assert_eq!(stopped.code, 4, "{kind}: {}", stopped.err);
        let before = server.received().len();
        assert!(before < 6, "{before}");
        // The recording names the server: that is not enough for the key.
        let refused = with_keys(&place, "run --resume latest --max-tokens 1000");
        assert_eq!((refused.code, server.received().len()), (2, before), "{}", refused.err);
        let said =
            with_keys(&place, &format!("run --resume latest --max-tokens 1000 --base-url {url}"));
        assert_eq!(said.code, 0, "{kind}: {}{}", said.out, said.err);
        let received = server.received();
        drop(server);
        assert_eq!(received.len(), 7, "six answers, and one more attempt");
        let keys = received.iter().map(|request| request.header(header).unwrap_or_default());
        assert!(keys.into_iter().all(|key| key.trim_start_matches("Bearer ") == KEY));
        place.ok("replay latest");
        place.ok("verify");
        let log = place.ok("export latest");
        assert!(!log.contains("SECRET"), "{kind}");
        assert!(log.contains(&format!("\"model\":{{\"kind\":\"{kind}\"")), "{}", &log[..600]);
        assert!(log.contains("HTTP 529"), "the failed attempt");
        let (checked, _) = place.json("check latest");
        assert_eq!(checked["decisions"].as_u64(), Some(6));
        assert_said_request(kind, &received[0]);
        let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
        let sql = "SELECT DISTINCT prompt_tokens, completion_tokens, finish_reason FROM exchanges";
        let due = match kind {
            "anthropic" => "end_turn",
            "gemini" => "STOP",
            _ => "completed",
        };
        assert_eq!(crate::support::rows::rows(&db, sql), [["5", "7", due]]);
    }
}

fn assert_said_request(kind: &str, request: &Received) {
    let body = serde_json::to_string_pretty(&request.json()).unwrap();
    let version = request.header("anthropic-version").unwrap_or("none");
    let shown = format!("POST {}\nanthropic-version: {version}\n{body}\n", request.target);
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(format!("other_apis_{kind}"), shown);
    });
}

/// A model of one API, and another model of another: embeddings, for example.
#[test]
fn endpoints_may_speak_different_apis() {
    let (place, claude, others) = (Place::new(), server("anthropic"), server("gemini"));
    let (at_claude, at_others) = (claude.address(), others.address());
    let model = format!(
        "model:\n  kind: gemini\n  base_url: http://{at_others}\n  endpoints:\n    gpt-4: {{kind: anthropic, base_url: \
         \"http://{at_claude}\", key: ANTHROPIC_API_KEY}}\n"
    );
    place.write("study.yaml", SMALL.to_owned() + &model);
    let said = with_keys(&place, "run study.yaml --quiet");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!((claude.received().len(), others.received().len()), (7, 0));
    place.ok("replay latest");
}

#[test]
fn the_server_of_a_stranger_s_recording_gets_no_key() {
    let base = recording(std::path::Path::new(concat!(
        env!("RETOLD_ROOT"),
        "/recordings/game24_small.jsonl"
    )));
    for (kind, _) in KINDS {
        let (place, listener) = (Place::new(), Listener::new());
        let mut settings = settings(&base);
        let model = &mut settings["runtime"]["model"];
        model["kind"] = kind.into();
        model["base_url"] = listener.url().into();
        let events = base.head.seq.0 as usize / 2;
        place.write("r.jsonl", forged(&base, RunId([0xab; 8]), &settings, events, true));
        place.ok("import r.jsonl");
        for args in ["run --resume latest", "fork latest --set samples=9"] {
            let said = with_keys(&place, args);
            assert_eq!(said.code, 2, "{args}: {}{}", said.out, said.err);
            assert!(said.err.contains("nothing in this command names that server"), "{}", said.err);
        }
        assert_eq!(listener.heard().connections, 0, "{kind}");
    }
}

#[test]
fn what_an_api_cannot_do_and_what_is_missing_is_explained() {
    let place = Place::new();
    let mut shown = String::new();
    for (kind, _) in KINDS {
        study(&place, kind, "https://models.example.org");
        shown.push_str(&place.session(&["run study.yaml"]));
    }
    shown.push_str(
        &place.session(&["run small.yaml --model anthropic", "run small.yaml --model claude"]),
    );
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
    // A parameter without a counterpart, a wrong key, another API's reply.
    let server = Server::script([
        Reply::new(
            401,
            json!({"type": "error", "error": {"message": format!("invalid x-api-key {KEY}")}})
                .to_string(),
        ),
        Reply::chat("I speak another API"),
    ]);
    study(&place, "anthropic", &format!("http://{}", server.address()));
    for args in [
        "run study.yaml --quiet",
        "run study.yaml --quiet --new --set retry.max_retries=0 --set samples=1 --set puzzles.rows=0..1",
        "run study.yaml --quiet --new --set request.extra.seed=3 --set samples=1 --set puzzles.rows=0..1",
    ] {
        let said = with_keys(&place, args);
        // A parameter without a counterpart is found before anything is asked.
        let due = if args.contains("seed") { 2 } else { 4 };
        assert_eq!(said.code, due, "{args}: {}{}", said.out, said.err);
        shown.push_str(&place.shown(args, &said));
    }
    assert!(!shown.contains("SECRET"), "{shown}");
    assert_said!("other_apis_wrong", shown);
}

/// What the settings record is the server that was asked, not OpenAI's.
#[test]
fn the_provider_s_own_server_is_recorded() {
    let place = Place::new();
    place.write("study.yaml", SMALL.to_owned() + "model: {kind: gemini}\n");
    let mut command = place.command();
    // No such host: nothing is sent anywhere.
    command.args(["run", "study.yaml", "--quiet", "--set", "samples=1"]);
    command.env("GEMINI_API_KEY", KEY).env("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1");
    let said = Said::ended(&mut command);
    assert_eq!(said.code, 4, "{}", said.err);
    let log: Value =
        serde_json::from_str(place.ok("export latest").lines().nth(1).unwrap()).unwrap();
    assert!(log.to_string().contains("http://127.0.0.1:1"), "{log}");
}
