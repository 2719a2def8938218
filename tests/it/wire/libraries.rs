//! `--stdio`: a library in the program's own language starts retold, and its transport says which server a request is
//! for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::{PATH, replay, replay_with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// A program that has started retold.
struct Library {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    greeting: Value,
}

impl Library {
    fn start(place: &Place, args: &str) -> Self {
        let mut command = place.command();
        command.args(args.split_whitespace()).args(["--stdio", "--", "python", "study.py"]);
        command
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let greeting = serde_json::from_str(&line).unwrap_or(Value::Null);
        Library { child, input, output, greeting }
    }

    /// Posts JSON, and returns status and body.
    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> (u16, String) {
        let host = self.greeting["url"].as_str().unwrap().strip_prefix("http://").unwrap();
        let token = self.greeting["token"].as_str().unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let body = body.to_string();
        let more: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nX-Retold-Token: {token}\r\nConnection: close\r\n{more}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Asks a question at a server.
    fn ask(&self, server: &str, question: &str, more: &[(&str, &str)]) -> (u16, String) {
        let mut headers = vec![("X-Retold-Origin", server), ("Authorization", "Bearer sk-x")];
        headers.extend(more);
        let messages = json!([{"role": "user", "content": question}]);
        self.post("/v1/chat/completions", &headers, &json!({"model": "m", "messages": messages}))
    }

    /// Says the last word, and returns what happened, the exit code, and what was written to stderr.
    fn end(mut self, word: &str) -> (Value, i32, String) {
        let mut input = self.input.take().unwrap();
        input.write_all(word.as_bytes()).unwrap();
        drop(input);
        let (mut line, mut said) = (String::new(), String::new());
        self.output.read_line(&mut line).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        (serde_json::from_str(&line).unwrap_or(Value::Null), code, said)
    }
}

const FINE: &str = "{\"exit_code\": 0}\n";

/// A server that repeats the question, and its address without a path.
fn upstream() -> (Server, String) {
    let server = Server::handler(|received| {
        Reply::chat(received.json()["messages"][0]["content"].as_str().unwrap_or("?"))
    });
    let origin = format!("http://{}", server.address());
    (server, origin)
}

#[test]
fn a_library_records_and_replays_under_the_servers_that_the_program_asks() {
    let place = Place::new();
    let (server, origin) = upstream();
    let library = Library::start(&place, "record --name pilot");
    let known = library.greeting["hosts"].as_array().unwrap();
    assert!(known.contains(&"api.openai.com".into()), "{known:?}");
    assert!(library.greeting["paths"].as_array().unwrap().contains(&"/chat/completions".into()));
    assert!(
        library.greeting["environment"]["OPENAI_BASE_URL"].as_str().unwrap().contains("/token/")
    );
    let labels = [("X-Retold-Call", "vote"), ("X-Retold-Labels", r#"{"participant": "p7"}"#)];
    let (status, answer) = library.ask(&origin, "yes or no?", &labels);
    assert!(status == 200 && answer.contains("yes or no?"), "{status} {answer}");
    let mark = json!({"name": "round 1", "state": {"scores": [1, 2.5]}});
    assert_eq!(library.post("/_retold/marks", &[], &mark).0, 200);
    let (summary, code, said) = library.end(FINE);
    assert_eq!(
        (&summary["recorded"], &summary["finished"], code),
        (&1.into(), &true.into(), 0),
        "{said}"
    );
    let received = server.received();
    assert!(
        received
            .iter()
            .all(|one| one.headers.iter().all(|(name, _)| !name.starts_with("x-retold")))
    );
    assert_eq!(received[0].header("authorization"), Some("Bearer sk-x"));
    drop(server);
    let log = place.ok("log latest");
    assert!(log.contains("participant: p7") && log.contains("  mark "), "{log}");
    assert!(place.ok("show latest").contains("python study.py"));
    place.ok("verify");

    let library = Library::start(&place, "replay pilot");
    assert_eq!(library.ask(&origin, "yes or no?", &labels), (200, answer));
    let other = json!({"name": "round 1", "state": {"scores": [1, 3]}});
    let (status, said) = library.post("/_retold/marks", &[], &other);
    assert!(status == 409 && said.contains("mark round 1"), "{status} {said}");
    let (status, said) = library.ask(&origin, "yes or no!", &[]);
    assert!(status == 404 && said.contains("not recorded"), "{status} {said}");
    let (summary, code, _) = library.end(FINE);
    assert_eq!(
        (&summary["not_recorded"], &summary["differences"], code),
        (&1.into(), &1.into(), 1)
    );
    let report = summary["report"].as_str().unwrap();
    assert!(report.contains("asked now yes or no!") && report.contains("mark round 1"), "{report}");
}

/// A request has the same key, whether a variable or a transport has led it here.
#[test]
fn what_a_library_recorded_is_replayed_on_the_command_line_and_the_other_way_round() {
    let place = Place::new();
    let (server, origin) = upstream();
    let base = format!("{origin}/v1");
    let ask = "curl -sS --max-time 20 $OPENAI_BASE_URL/chat/completions \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}'";
    let program = ["sh", "-c", ask];
    let upstreams = format!("--upstream openai={base}");
    let library = Library::start(&place, &format!("record --name one {upstreams}"));
    let (_, answer) = library.ask(&origin, "hello", &[]);
    library.end(FINE);
    let recorded = super::record(&place, "--name two", &base, &program);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    drop(server);
    let replayed = replay_with(&place, "one", &program, &[]);
    assert_eq!((replayed.code, replayed.out), (0, answer), "{}", replayed.err);
    let library = Library::start(&place, "replay two");
    assert_eq!(library.ask(&origin, "hello", &[]), (200, recorded.out));
    assert_eq!(library.end(FINE).1, 0);
}

#[test]
fn a_program_that_dies_leaves_a_run_that_is_resumed() {
    let place = Place::new();
    let (server, origin) = upstream();
    for word in ["", "what?\n", "{\"exit_code\": 3}\n"] {
        let library = Library::start(&place, "record");
        let (_, answer) = library.ask(&origin, "one", &[]);
        let (summary, _, _) = library.end(word);
        assert_eq!(summary["finished"], false, "{word}");
        let asked = server.received().len();
        // The program itself says again which server it asks.
        let library = Library::start(&place, "record --resume latest");
        assert_eq!(library.ask(&origin, "one", &[]), (200, answer));
        assert_eq!(library.ask(&origin, "two", &[]).0, 200);
        let (summary, code, said) = library.end(FINE);
        assert_eq!(
            (&summary["recorded"], &summary["finished"], code),
            (&1.into(), &true.into(), 0),
            "{said}"
        );
        assert_eq!(server.received().len(), asked + 1);
    }
    let library = Library::start(&place, "fork latest");
    library.ask(&origin, "one", &[]);
    assert_eq!(library.end(FINE).0["recorded"], 0);
}

#[test]
fn what_a_transport_must_not_send_is_explained() {
    let place = Place::new();
    let (_server, origin) = upstream();
    let library = Library::start(&place, "record");
    for (origin, headers, status, due) in [
        ("api.openai.com", vec![], 400, "X-Retold-Origin: api.openai.com is not a server"),
        ("https://u:hunter2@h.example", vec![], 400, "is not a server"),
        (
            &*origin,
            vec![("X-Retold-Labels", "participant")],
            400,
            "labels are a JSON object of texts",
        ),
        (
            &*origin,
            vec![("X-Retold-Labels", r#"{"n": 1}"#)],
            400,
            "labels are a JSON object of texts",
        ),
        (&*origin, vec![("X-Retold-Token", "wrong")], 401, "wants its token"),
    ] {
        let (code, said) = library.ask(origin, "x", &headers);
        assert!(code == status && said.contains(due), "{origin} {code} {said}");
    }
    for (mark, due) in [
        (json!({"name": "", "state": 1}), "name: it is empty"),
        (json!({"name": "a", "state": 9_007_199_254_740_993_u64}), "beyond 2^53"),
        (json!({"name": "a"}), "missing field `state`"),
    ] {
        let (code, said) = library.post("/_retold/marks", &[], &mark);
        assert!(code == 400 && said.contains(due), "{code} {said}");
    }
    library.end(FINE);
    // Nothing is begun for a run that cannot be.
    let library = Library::start(&place, "replay nosuchrun");
    assert_eq!(library.greeting, Value::Null);
    let (_, code, said) = library.end("");
    assert!(code == 2 && said.contains("nosuchrun"), "{code} {said}");
    // It is for programs that have a command.
    let said = place.run("record --stdio");
    assert_eq!(said.code, 2, "{}", said.err);
}

/// Nothing but the run: its answers are those of any other program.
#[test]
fn an_unfinished_library_s_run_is_a_run_like_any_other() {
    let place = Place::new();
    let (server, origin) = upstream();
    let library = Library::start(&place, "record");
    library.ask(&origin, "one", &[]);
    library.end("");
    drop(server);
    let said = place.ok("show latest");
    assert!(said.contains("record --resume"), "{said}");
    let nothing = replay(&place, "latest", &["true"]);
    assert!(nothing.err.contains("1 recorded request was never asked"), "{}", nothing.err);
}

#[test]
fn a_library_of_another_version_is_refused_before_anything_is_written() {
    let place = Place::new();
    let said = place.run("record --stdio=0.0.1 -- true");
    assert_eq!(said.code, 2, "{}", said.err);
    let version = env!("CARGO_PKG_VERSION");
    let why = format!("the library has version 0.0.1, and this program has version {version}");
    assert!(said.err.contains(&why), "{}", said.err);
    assert!(!place.path("retold.db").exists());
}
