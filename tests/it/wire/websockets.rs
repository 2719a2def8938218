//! The Responses API over WebSockets: each frame that asks is an exchange.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::python::{frameworks_python, python};
use super::{KEY, assert_no_key, program, record, replay, replay_with, retold, with};
use crate::support::cli::{Place, Said};

/// A server that stops when it is dropped.
struct Responses {
    child: Child,
    port: String,
}

impl Responses {
    fn start() -> Self {
        let mut command = Command::new(python());
        command.arg(program("responses_server.py")).arg(KEY).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Responses { child, port: port.trim().to_owned() }
    }

    fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

impl Drop for Responses {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A program that sends these frames and prints those that come back.
fn frames(sent: &[&str]) -> Vec<String> {
    let script = program("websocket_frames.py").to_str().unwrap().to_owned();
    [python(), script].into_iter().chain(sent.iter().map(|it| (*it).to_owned())).collect()
}

fn words(program: &[String]) -> Vec<&str> {
    program.iter().map(String::as_str).collect()
}

/// Records a program, stops the server, and replays the program without network and key: it prints the same.
fn again(program: &[&str]) -> (Place, Said) {
    let (place, server) = (Place::new(), Responses::start());
    let recorded = record(&place, "", &server.base_url(), program);
    drop(server);
    assert_no_key(&place, &recorded);
    let replayed = replay(&place, "latest", program);
    assert_eq!(replayed.out, recorded.out, "{}{}", recorded.err, replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    place.ok("verify");
    (place, recorded)
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk_gets_the_same_frames_again() {
    let (python, script) = (python(), program("websocket_study.py"));
    let study = [python.as_str(), script.to_str().unwrap()];
    let (place, recorded) = again(&study);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.err.contains("recorded 6 answers"), "{}", recorded.err);
    // Equal frames are independent samples.
    for answer in ["Answer 1 to red", "Answer 2 to red"] {
        let begin = format!("\"text\":\"{answer}");
        assert!(recorded.out.contains(&begin), "{begin}: {}", recorded.out);
    }
    // The log has texts and tokens, as of any other request.
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT call LIKE 'openai.responses/%', answer, completion_tokens FROM exchanges ORDER BY seq LIMIT 1";
    let rows = crate::support::rows::rows(&db, sql);
    assert_eq!(rows, [["1", "Answer 1 to red: \u{e4}\u{20ac}", "5"]]);
    // A changed frame is a miss that names what changed.
    let changed = replay_with(&place, "latest", &study, &[("WORDS", "red green blue")]);
    assert_eq!(changed.code, 1, "{}", changed.err);
    assert!(changed.out.contains("retold_not_recorded"), "{}", changed.out);
    assert!(changed.err.contains("green"), "{}", changed.err);
    assert!(!changed.out.contains("to green"), "{}", changed.out);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn agents_of_openai_get_the_same_answers_again() {
    let (python, script) = (frameworks_python(), program("frameworks/websocket_agents.py"));
    let (_, recorded) = again(&[&python, script.to_str().unwrap()]);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    let due = ["red", "red", "blue"].iter().zip([1, 2, 1]);
    let due: String =
        due.map(|(word, n)| format!("Answer {n} to {word}: \u{e4}\u{20ac}\n")).collect();
    assert_eq!(recorded.out, due, "{}", recorded.err);
    assert!(recorded.err.contains("recorded 3 answers"), "{}", recorded.err);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn what_goes_wrong_at_a_websocket_goes_wrong_again() {
    let steer = r#"{"type": "response.steer", "previous_response_id": "resp_1", "input": "left"}"#;
    // After `leave`, the upstream closes the connection.
    let binary = r#"{"binary": true}"#;
    let sent =
        ["red", "error", "red", "break", "red", "leave", "blue", steer, "red", binary, "red"];
    let sent = frames(&sent);
    let (place, recorded) = again(&words(&sent));
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    for due in [
        "previous_response_not_found",
        "closed: broken off\n",
        "retold does not record frames of the type \\\"response.steer\\\": only response.create",
        "closed: retold records frames of text\n",
        "Answer 1 to blue",
        "Answer 5 to red",
    ] {
        assert!(recorded.out.contains(due), "{due}: {}{}", recorded.out, recorded.err);
    }
    let log = place.ok("log latest");
    assert_eq!(log.matches("  failed attempt ").count(), 3, "{log}");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_handshake_that_is_refused_is_an_error_and_no_key_is_recorded() {
    let (place, server) = (Place::new(), Responses::start());
    let wrong = "sk-live-wrong-0123456789abcdef";
    let sent = frames(&["red"]);
    let set = [("OPENAI_API_KEY", wrong)];
    let recorded = with(&place, "record", &server.base_url(), &words(&sent), &set);
    drop(server);
    assert!(recorded.out.contains(r#""status":401"#), "{}{}", recorded.out, recorded.err);
    assert!(recorded.out.contains(wrong), "the program gets what was said: {}", recorded.out);
    let log = place.ok("log latest") + &place.ok("export latest");
    assert!(!log.contains(wrong), "{log}");
    let replayed = replay(&place, "latest", &words(&sent));
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    assert!(replayed.out.contains(r#""status":401"#), "{}", replayed.out);
    // Nobody is there.
    let refused = record(&place, "", "http://127.0.0.1:1/v1", &words(&sent));
    assert!(refused.out.contains(r#""status":502"#), "{}", refused.out);
    assert!(refused.out.contains("cannot connect"), "{}", refused.out);
}

/// An answer that did not come to its end is asked again, and no other.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn a_killed_recorder_is_resumed_at_the_frame_that_had_no_answer() {
    let (place, server) = (Place::new(), Responses::start());
    let sent = frames(&["red", "slow", "blue"]);
    let mut recording = retold(&place, "record --quiet", &words(&sent));
    recording.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", KEY);
    recording.stderr(Stdio::null()).stdout(Stdio::piped());
    let mut recording = recording.spawn().unwrap();
    let mut lines = BufReader::new(recording.stdout.take().unwrap()).lines();
    // The program has the first answer and the beginning of the second.
    while !lines.next().unwrap().unwrap().contains("response.completed") {}
    std::thread::sleep(Duration::from_millis(500));
    recording.kill().unwrap();
    recording.wait().unwrap();
    let args = format!("record --resume latest --upstream openai={}", server.base_url());
    let resumed = with(&place, &args, &server.base_url(), &words(&sent), &[]);
    drop(server);
    assert_eq!(resumed.code, 0, "{}{}", resumed.out, resumed.err);
    for due in ["Answer 1 to red", "Answer 2 to slow", "Answer 1 to blue"] {
        assert!(resumed.out.contains(due), "{due}: {}{}", resumed.out, resumed.err);
    }
    assert!(resumed.err.contains("recorded 2 answers"), "{}", resumed.err);
    let replayed = replay(&place, "latest", &words(&sent));
    assert_eq!((replayed.code, &replayed.out), (0, &resumed.out), "{}", replayed.err);
}
