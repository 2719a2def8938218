//! Personal data that is never stored, and the pace of recorded streams.

use std::time::Duration;

use retold::run::clock::Stopwatch;
use serde_json::json;

use super::upstream::stream;
use super::{record, replay};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Asks a question with personal data in its body and path, and asks again with what was answered.
const ASK: &str = r#"
ask() { curl -sS --max-time 20 "$@"; }
first=$(ask "$OPENAI_BASE_URL/chat/completions?user=ada%40example.com" -H 'x-retold-call: ask/ada@example.com' \
  -d '{"model":"m","messages":[{"role":"user","content":"I am Ada Lovelace, ada@example.com. Who am I?"}]}')
name=$(printf '%s' "$first" | sed 's/.*You are \([^!]*\)!.*/\1/')
ask "$OPENAI_BASE_URL/chat/completions" \
  -d "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Greet $name\"}]}"
ask "$RETOLD_URL/_retold/facts" -d "{\"name\":\"greeted\",\"value\":{\"who\":\"$name\"},\"lane\":\"$name\"}"
"#;

#[test]
fn personal_data_is_taken_out_before_anything_is_stored() {
    let place = Place::new();
    let upstream = Server::handler(|received| {
        let body = received.json();
        let asked = body["messages"][0]["content"].as_str().unwrap();
        assert!(asked.contains("Ada Lovelace"), "the model gets everything: {asked}");
        if body["stream"] != true {
            return Reply::chat("You are Ada Lovelace!")
                .header("x-request-id", "for ada@example.com");
        }
        // Three letters at a time, and cut anywhere.
        let events = stream("Good day, Ada Lovelace. (Ada Lovelace <ada@example.com>)", 1);
        let ends = (1..events.len()).filter(|at| at % 37 == 0).collect();
        Reply::new(200, events)
            .header("content-type", "text/event-stream")
            .chunks(ends, Duration::ZERO)
    });
    let program = ["sh", "-c", ASK, "for ada@example.com"];
    let rules = r"--redact [A-Z][a-z]{2}\sL[a-z]+ --redact [a-z.]+(@|%40)[a-z.]+";
    let recorded = record(&place, rules, &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let asked = upstream.received();
    drop(upstream);
    assert_eq!(asked.len(), 2);
    assert!(asked[0].target.contains("ada%40example.com"));
    // The program gets the letters as they came.
    assert!(!recorded.out.contains("[redacted]") && recorded.out.contains("[DONE]"));
    // What was stored, and what is said about it, has none of it.
    place.ok("verify");
    let files = ["retold.db", "retold.db-wal"].map(|name| std::fs::read(place.path(name)));
    let shown =
        ["log latest --most 100", "show latest", "export latest"].map(|args| place.ok(args));
    let all = files.into_iter().flatten().chain(shown.iter().map(|text| text.clone().into_bytes()));
    for bytes in all {
        for secret in ["Lovelace", "ada@", "ada%40", "Ada"] {
            assert!(memchr::memmem::find(&bytes, secret.as_bytes()).is_none(), "{secret}");
        }
    }
    assert!(shown[1].contains("redacted: "), "{}", shown[1]);
    let log = place.json("log latest --most 100").0;
    let answers =
        log["events"].as_array().unwrap().iter().filter(|it| it["kind"] == "ResponseReceived");
    let redacted = answers.filter(|it| it["body"]["extra"]["http"]["redacted"] == json!(true));
    assert_eq!(redacted.count(), 2, "what was taken out is marked: {log}");
    // The replay answers without the names, and the program asks its second question with that.
    let replayed = replay(&place, "latest", &program);
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
    assert!(
        replayed.out.contains("[redacted]") && replayed.out.contains("[DONE]"),
        "{}",
        replayed.out
    );
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
}

#[test]
fn a_pattern_that_cannot_be_used_is_explained() {
    let place = Place::new();
    let said = |pattern: &str| {
        record(&place, &format!("--redact {pattern}"), "http://127.0.0.1:1", &["true"])
    };
    let everything = said("x*");
    assert_eq!(everything.code, 2);
    assert!(everything.err.contains("also matches the empty text"), "{}", everything.err);
    assert!(said("(").err.contains("is not a regular expression"));
}

/// A stream takes at least as long as it took, and a replay at once waits for nothing.
#[test]
fn a_stream_is_sent_again_at_its_own_pace() {
    let place = Place::new();
    let events = stream("slowly", 1);
    let ends = (1..events.len()).filter(|at| at % 200 == 0).collect();
    let reply = Reply::new(200, events).header("content-type", "text/event-stream");
    let upstream = Server::script([reply.chunks(ends, Duration::from_millis(120))]);
    let ask = "curl -sS --max-time 60 $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'";
    let program = ["sh", "-c", ask];
    let recorded = record(&place, "", &upstream.base_url(), &program);
    drop(upstream);
    let log = place.json("log latest --most 100").0;
    let chunks = log["events"].as_array().unwrap().iter();
    let chunks = chunks.flat_map(|it| it["body"]["extra"]["http"]["chunks"].as_array());
    let last = chunks.flatten().filter_map(|chunk| chunk[1].as_u64()).max().unwrap();
    assert!(last >= 240, "three chunks at least: {log}");
    let started = Stopwatch::start();
    let replayed = replay(&place, "--pace recorded latest", &program);
    assert!(started.elapsed() >= Duration::from_millis(last), "{:?}", started.elapsed());
    assert_eq!((replayed.code, replayed.out), (0, recorded.out));
}
