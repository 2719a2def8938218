//! Personal data that is never stored, and the pace of recorded streams.

use std::time::Duration;

use data_encoding::BASE64;
use retold::run::clock::Stopwatch;
use serde_json::json;

use super::upstream::stream;
use super::{KEY, record, replay, retold};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};
use crate::support::shared_data;

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
    assert!(!recorded.out.contains("[redacted") && recorded.out.contains("[DONE]"));
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
        replayed.out.contains("[redacted-") && replayed.out.contains("[DONE]"),
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

/// Asks about two people, in the order of its argument, and reports two votes.
const TWO: &str = r#"
ask() { curl -sS --max-time 20 "$OPENAI_BASE_URL/chat/completions" \
  -d "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Who is $1?\"}]}"; echo; }
for name in $1; do ask "$name"; done
curl -sS "$RETOLD_URL/_retold/facts" -d "{\"name\":\"votes\",\"value\":{\"Adaline\":$2,\"Bobbert\":2}}" >/dev/null
"#;

/// A server that answers with how often it was asked, and the name in brackets.
fn numbered() -> Server {
    let mut asked = 0;
    Server::handler(move |received| {
        asked += 1;
        let body = received.json();
        let said = body["messages"][0]["content"].as_str().unwrap().to_owned();
        Reply::chat(&format!("Answer {asked} to <{said}>"))
    })
}

/// Whether any file of a folder has a text in it.
fn any_file_has(place: &Place, text: &str) -> bool {
    let files = std::fs::read_dir(place.root()).unwrap().map(|entry| entry.unwrap().path());
    let mut files = files.filter(|path| path.is_file());
    files.any(|path| memchr::memmem::find(&std::fs::read(path).unwrap(), text.as_bytes()).is_some())
}

#[test]
fn two_people_stay_two_in_a_run_and_in_its_replays() {
    let (place, upstream) = (Place::new(), numbered());
    let program = |names: &'static str, votes: &'static str| ["sh", "-c", TWO, "two", names, votes];
    let recorded = record(
        &place,
        "--redact Adaline|Bobbert",
        &upstream.base_url(),
        &program("Adaline Bobbert Adaline", "1"),
    );
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    assert!(!any_file_has(&place, "Adaline") && !any_file_has(&place, "Bobbert"));
    let log = place.ok("log latest --most 100 --json");
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let fact =
        log["events"].as_array().unwrap().iter().find(|it| it["kind"] == "Occurred").unwrap();
    let votes = fact["body"]["fact"]["value"].as_object().unwrap();
    let mut values: Vec<_> = votes.values().filter_map(serde_json::Value::as_u64).collect();
    values.sort_unstable();
    assert_eq!(values, [1, 2], "both are kept, under names of their own: {votes:?}");
    // In another order, everyone gets their own answers.
    let replayed = replay(&place, "latest", &program("Bobbert Adaline Adaline", "1"));
    assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
    let answers: Vec<_> =
        replayed.out.lines().filter_map(|line| line.split("Answer ").nth(1)?.get(..1)).collect();
    assert_eq!(answers, ["2", "1", "3"], "{}", replayed.out);
    let other = replay(&place, "latest", &program("Adaline Bobbert Adaline", "7"));
    assert_eq!(other.code, 1, "another value for the first is a difference: {}", other.err);
    let third = replay(&place, "latest", &program("Adaline Eveline", "1"));
    assert!(third.code == 1 && third.err.contains("Eveline"), "{}", third.err);
    // A fork takes out the same values in the same way.
    let mut fork = retold(&place, "fork latest", &program("Adaline Bobbert Adaline Bobbert", "1"));
    fork.env("OPENAI_BASE_URL", upstream.base_url()).env("OPENAI_API_KEY", KEY);
    let forked = Said::ended(&mut fork);
    assert_eq!(forked.code, 0, "{}", forked.err);
    assert_eq!(upstream.received().len(), 4, "three answers are shared, one is new");
    assert!(!any_file_has(&place, "Adaline") && !any_file_has(&place, "Bobbert"));
}

#[test]
fn without_the_key_only_requests_without_a_redacted_value_are_found() {
    let (place, upstream) = (Place::new(), numbered());
    let program = |names: &'static str| ["sh", "-c", TWO, "two", names, "1"];
    let recorded = record(
        &place,
        "--redact Adaline|Bobbert",
        &upstream.base_url(),
        &program("Adaline nobody"),
    );
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(place.path("retold.db-key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only its owner may read the key");
    }
    assert!(!any_file_has(&place, "Adaline|Bobbert"), "the pattern is not readable anywhere");
    std::fs::rename(place.path("retold.db-key"), place.path("away")).unwrap();
    let ask = "curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions -d \
        \"{\\\"model\\\":\\\"m\\\",\\\"messages\\\":[{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Who is $1?\\\"}]}\"";
    let nobody = replay(&place, "latest", &["sh", "-c", ask, "ask", "nobody"]);
    assert!(nobody.out.contains("Answer 2"), "{}{}", nobody.out, nobody.err);
    assert!(nobody.err.contains("retold.db-key: requests with a redacted value"), "{}", nobody.err);
    let ada = replay(&place, "latest", &["sh", "-c", ask, "ask", "Adaline"]);
    assert_eq!(ada.code, 1, "{}", ada.err);
    assert!(ada.out.contains("retold.db-key: a request with a redacted value"), "{}", ada.out);
    let go_on = |command: &str| {
        let mut command = retold(&place, command, &program("Adaline"));
        Said::ended(command.env("OPENAI_BASE_URL", upstream.base_url()))
    };
    let forked = go_on("fork latest");
    assert!(
        forked.code == 2 && forked.err.contains("nothing would be taken out"),
        "{}",
        forked.err
    );
    assert!(forked.err.contains("retold.db-key"), "{}", forked.err);
    // All that was recorded can be read and verified.
    for command in ["verify", "show latest", "log latest", "stats latest", "export latest"] {
        place.ok(command);
    }
    let named = record(&place, "--name Adaline --redact Adaline", &upstream.base_url(), &["true"]);
    assert!(named.code == 2 && named.err.contains("choose another name"), "{}", named.err);
}

#[test]
fn the_key_is_exported_copied_and_imported_only_if_asked() {
    let (place, upstream) = (Place::new(), numbered());
    let program = ["sh", "-c", TWO, "two", "Adaline Bobbert", "1"];
    let recorded = record(&place, "--redact Adaline|Bobbert", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    let said = place.ok("export latest without.jsonl");
    assert!(said.contains("was not written") && said.contains("--with-key"), "{said}");
    assert!(!place.path("without.jsonl-key").exists());
    let said = place.ok("export latest with.jsonl --with-key");
    assert!(said.contains("with.jsonl-key"), "{said}");
    let said = place.ok("copy --to copy.db");
    assert!(said.contains("were not copied") && said.contains("retold.db-key"), "{said}");
    place.ok("copy --to keyed.db --with-key");
    assert_eq!(place.read("keyed.db-key"), place.read("retold.db-key"));
    let nothing = place.run("export latest x.jsonl --as exchanges --with-key");
    assert!(nothing.code == 2 && nothing.err.contains("--with-key is for"), "{}", nothing.err);
    let over = place.run("export latest retold.db-key --force");
    assert_eq!(over.code, 2, "a key file is not written over: {}", over.err);

    // In a log with a key of its own, a run is replayed with the one that it was recorded with.
    let other = Place::new();
    let new = record(&other, "--redact Adaline", &upstream.base_url(), &program);
    assert_eq!(new.code, 0, "{}", new.err);
    assert_ne!(other.read("retold.db-key"), place.read("retold.db-key"));
    let import = |name: &str| other.ok(&format!("import {}", place.path(name).display()));
    let said = import("without.jsonl");
    assert!(said.contains("does not find requests with a redacted value"), "{said}");
    let missing = replay(&other, "latest", &program);
    assert_eq!(missing.code, 1, "{}", missing.err);
    let said = import("with.jsonl");
    assert!(said.contains("the key of its redactions was added"), "{said}");
    for run in ["latest", &place.path("with.jsonl").display().to_string()] {
        let replayed = replay(&other, run, &program);
        assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
        assert!(replayed.out.contains("Answer 1") && replayed.out.contains("Answer 2"));
    }
    let again = record(&other, "--redact Bobbert", &upstream.base_url(), &program);
    assert_eq!(again.code, 0, "{}", again.err);
    let runs = other.json("log").0["runs"].as_array().unwrap().len();
    assert_eq!(runs, 3);
    // An unusable key file is not written over.
    other.write("retold.db-key", "not a key\n");
    let broken = record(&other, "--redact Bobbert", &upstream.base_url(), &["true"]);
    assert!(broken.code == 3 && broken.err.contains("a line that is not a key"), "{}", broken.err);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn names_are_found_in_every_writing() {
    let place = Place::new();
    let vectors = std::fs::read_to_string(shared_data("wire/redaction.jsonl")).unwrap();
    let vectors: Vec<serde_json::Value> =
        vectors.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bytes =
        |text: &serde_json::Value| BASE64.decode(text.as_str().unwrap().as_bytes()).unwrap();
    let answers: Vec<Reply> = vectors
        .iter()
        .filter(|vector| vector["side"] == "answer")
        .map(|vector| {
            let answer = &vector["answer"];
            let pieces = answer["chunks"].as_array().cloned().unwrap_or_default();
            let pieces: Vec<_> = pieces.iter().filter(|it| it.is_string()).map(bytes).collect();
            let body = if pieces.is_empty() { bytes(&answer["body"]) } else { pieces.concat() };
            let mut end = 0;
            let ends = pieces
                .iter()
                .map(|piece| {
                    end += piece.len();
                    end
                })
                .collect();
            let reply = Reply::new(answer["status"].as_u64().unwrap() as u16, body)
                .header("content-type", answer["content_type"].as_str().unwrap());
            match (pieces.is_empty(), answer["ends"] == json!(false)) {
                (true, _) => reply,
                (false, true) => reply.cut_chunks(ends),
                (false, false) => reply.chunks(ends, Duration::ZERO),
            }
        })
        .collect();
    let mut script = String::new();
    for (at, vector) in vectors.iter().enumerate() {
        let name = vector["name"].as_str().unwrap();
        let bearer = vector["bearer"].as_str().unwrap_or("none");
        let curl =
            format!("curl -s -o /dev/null --max-time 20 -H 'authorization: Bearer {bearer}'");
        match vector["side"].as_str().unwrap() {
            "answer" => {
                script.push_str(&format!("{curl} $OPENAI_BASE_URL/answer/{name} -d '{{}}'\n"))
            }
            "request" => {
                place.write(&format!("{at}.body"), bytes(&vector["body"]));
                let mut headers =
                    format!("-H 'content-type: {}'", vector["content_type"].as_str().unwrap());
                for header in vector["headers"].as_str().unwrap().lines() {
                    headers.push_str(&format!(" -H '{header}'"));
                }
                let path = vector["path"].as_str().unwrap();
                script.push_str(&format!(
                    "{curl} {headers} \"$RETOLD_URL/{path}\" --data-binary @{at}.body\n"
                ));
            }
            _ => {}
        }
    }
    let mut answers: std::collections::VecDeque<Reply> = answers.into();
    let upstream = Server::handler(move |received| match received.target.contains("/answer/") {
        true => answers.pop_front().unwrap_or_else(|| Reply::chat("x")),
        false => Reply::chat("x"),
    });
    let rules = r"--redact Zqada\sXlovelace|Xjos\x{e9}\sZq";
    place.write("ask.sh", &script);
    let recorded = record(&place, rules, &upstream.base_url(), &["sh", "ask.sh"]);
    drop(upstream);
    for at in 0..vectors.len() {
        let _ = std::fs::remove_file(place.path(&format!("{at}.body")));
    }
    std::fs::remove_file(place.path("ask.sh")).unwrap();
    let export = place.ok("export latest all.jsonl");
    assert!(export.contains("written"), "{export}");
    let summary = place.json("log latest --most 500").0;
    let exchanges = summary["events"].as_array().unwrap().len();
    assert!(exchanges > 2 * 25, "{exchanges} events: {}", recorded.err);
    let mut left: Vec<String> = Vec::new();
    let secrets = [
        "Zqada", "Xlovelace", "\"velace", "Xjos", "90,113,97", "WnFhZGEg", "KEYSPLIT", "keysplit",
        "S0VZU1BMSVQ", "LRVlTUExJV",
    ];
    for line in place.read("all.jsonl").lines() {
        left.extend(
            secrets.iter().filter(|it| line.contains(**it)).map(|it| format!("{it}: {line}")),
        );
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
    for secret in secrets {
        assert!(!any_file_has(&place, secret), "{secret}");
    }
    assert!(!recorded.err.contains("Zqada") && !place.ok("show latest").contains("Zqada"));
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
