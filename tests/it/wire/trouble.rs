//! Upstreams and clients that misbehave: each gets an error in the shape of its API, and a line in the
//! log, and the next request is served.

use std::io::Write;
use std::time::Duration;

use super::upstream::stream;
use super::{record, record_with, replay};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server, nobody};

/// Asks several paths, the last of which must work.
const ASK: &str = "
ask() { curl -sS --max-time 20 -w ' %{http_code}\\n' \"$@\" 2>&1; }
json='{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'
ask $OPENAI_BASE_URL/chat/completions -d \"$json\"
ask $OPENAI_BASE_URL/chat/completions -d \"$json\"
ask $OPENAI_BASE_URL/chat/completions -d \"$json\"
";

#[test]
fn what_an_upstream_sends_instead_of_an_answer_is_recorded_and_sent_again() {
    let gzip = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let packed = |bytes: &[u8]| Reply::new(200, gzip(bytes)).header("content-encoding", "gzip");
    let cases: [(&str, Reply, &str); 7] = [
        ("reset", Reply::reset(), "broke the connection before it answered"),
        ("not JSON", Reply::new(200, "<html>nonsense</html>"), "<html>nonsense</html> 200"),
        ("a bomb", packed(&vec![b' '; 20 << 20]), "the answer is longer than 16 MiB"),
        (
            "not gzip",
            Reply::new(200, "nonsense").header("content-encoding", "gzip"),
            "nonsense 200",
        ),
        (
            "an unknown encoding",
            Reply::new(200, "x").header("content-encoding", "compress"),
            "x 200",
        ),
        ("a cut answer", Reply::chat("a long enough answer").cut_after(60), "curl: ("),
        ("too long", Reply::new(200, vec![b'x'; 17 << 20]), "the answer is longer than 16 MiB"),
    ];
    for (name, reply, seen) in cases {
        let place = Place::new();
        let mut replies = vec![Reply::chat("first"), reply, Reply::chat("last")].into_iter();
        let upstream = Server::handler(move |_| replies.next().unwrap());
        let program = ["sh", "-c", ASK];
        let set = [("RETOLD_LONGEST_BODY", "16")];
        let recorded = record_with(&place, "", &upstream.base_url(), &program, &set);
        drop(upstream);
        assert!(
            recorded.out.contains("first") && recorded.out.contains("last"),
            "{name}: {}",
            recorded.out
        );
        assert!(recorded.out.contains(seen), "{name}: {}", recorded.out);
        let replayed = replay(&place, "latest", &program);
        // What of a cut body has arrived when the connection breaks is up to the client.
        if !seen.starts_with("curl") {
            assert_eq!(replayed.out, recorded.out, "{name}");
        }
        assert!(
            replayed.out.contains("last") && replayed.out.contains(seen),
            "{name}: {}",
            replayed.out
        );
        let (shown, _) = place.json("show latest");
        assert_eq!(
            shown["exchanges"].as_u64().unwrap() + shown["failed_attempts"].as_u64().unwrap(),
            3,
            "{name}"
        );
        place.ok("verify");
    }
}

#[test]
fn what_cannot_be_asked_is_refused_and_recorded() {
    let place = Place::new();
    let (url, _socket) = nobody();
    let ask = "
ask() { curl -sS --max-time 20 -o /dev/null -w '%{http_code}\\n' \"$@\" 2>&1; }
ask $OPENAI_BASE_URL/chat/completions -d '{\"model\":\"m\",\"messages\":[]}'
ask $RETOLD_URL/elsewhere/chat/completions -d '{}'
ask --path-as-is $OPENAI_BASE_URL/../../admin
ask --http1.1 -H 'connection: upgrade' -H 'upgrade: websocket' $OPENAI_BASE_URL/realtime
head -c 34000000 /dev/zero | ask --http1.1 -H 'expect:' --data-binary @- $OPENAI_BASE_URL/files
ask $OPENAI_BASE_URL/chat/completions -d '{\"model\":\"m\",\"messages\":[]}' -H 'x-retold-call: a//b'
ask --http1.0 $OPENAI_BASE_URL/models
";
    let set = [("RETOLD_LONGEST_BODY", "32")];
    let recorded = record_with(&place, "", &url, &["sh", "-c", ask], &set);
    let codes: Vec<&str> = recorded.out.lines().filter(|line| line.len() == 3).collect();
    assert_eq!(
        codes,
        ["502", "404", "400", "426", "413", "400", "502"],
        "{}{}",
        recorded.out,
        recorded.err
    );
    let log = place.ok("export latest");
    for said in [
        "cannot connect",
        "name another upstream",
        "leads out of the upstream",
        "WebSockets",
        "more than 32 MiB",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
    place.ok("verify");
}

#[test]
fn a_program_that_asks_nothing_is_told_why_nothing_was_recorded() {
    let place = Place::new();
    let said = record(&place, "", "http://127.0.0.1:1/v1", &["true"]);
    assert_eq!(said.code, 0);
    let due = "made no request that retold could see. It has to read its base URL";
    assert!(said.err.contains(due), "{}", said.err);
    // It may have ended before it would have asked.
    let said = record(&Place::new(), "", "http://127.0.0.1:1/v1", &["sh", "-c", "exit 7"]);
    assert_eq!(said.code, 7, "{}", said.err);
    assert!(said.err.contains("made no request that retold could see\n"), "{}", said.err);
    let missing = record(&place, "", "http://127.0.0.1:1/v1", &["./no-such-program"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("there is no program ./no-such-program"), "{}", missing.err);
    place.write("a-file", "");
    for (program, why) in [
        ("no-such-program", " in PATH"),
        ("./a-file", "is not a program"),
        ("./", "is not a program"),
    ] {
        let said = record(&place, "", "http://127.0.0.1:1/v1", &[program]);
        assert_eq!(said.code, 2, "{program}: {}", said.err);
        assert!(said.err.contains(why) && said.err.contains("without a shell"), "{}", said.err);
    }
    // An empty run is not worth a replay.
    assert!(!said.err.contains("retold replay"), "{}", said.err);
    assert_eq!(place.json("log").0["runs"].as_array().unwrap().len(), 1);
}

/// An answer is paid for, whether its client waits for it or not.
#[test]
fn an_answer_is_kept_although_its_client_has_left() {
    let place = Place::new();
    let events = stream("a rather long answer to a short question", 1);
    let ends = (1..events.len()).filter(|at| at % 200 == 0).collect();
    let reply = Reply::new(200, events).header("content-type", "text/event-stream");
    let upstream = Server::script([reply.chunks(ends, Duration::from_millis(150))]);
    let ask = "curl -sS --max-time 0.4 $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'; true";
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", ask]);
    assert_eq!(recorded.code, 0);
    assert!(!recorded.out.contains("[DONE]"), "{}", recorded.out);
    assert!(recorded.err.contains("recorded 1 answer as run"), "{}", recorded.err);
    assert!(place.ok("log latest").contains("a rather long answer to a short question"));
}

/// When a client sees the end of a stream, another process finds the answer in the log.
#[test]
fn the_end_of_a_stream_is_held_back_until_the_answer_is_on_disk() {
    let place = Place::new();
    let upstream = super::upstream::server(super::upstream::Failing { one_in: 0 });
    let program = format!(
        "for n in 1 2 3 4 5; do
           curl -sSN --max-time 20 $OPENAI_BASE_URL/chat/completions \
             -d '{{\"model\":\"m\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}' |
           while read -r line; do
             case $line in *DONE*) {} log latest | grep -c '  answer  ';; esac
           done
         done",
        env!("CARGO_BIN_EXE_retold")
    );
    let recorded = record(&place, "", &upstream.base_url(), &["sh", "-c", &program]);
    assert_eq!(recorded.out, "1\n2\n3\n4\n5\n", "{}", recorded.err);
}
