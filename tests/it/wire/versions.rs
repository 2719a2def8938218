//! The variables that are set by default: all SDKs that read one work with what retold writes into it,
//! also where they disagree on whether a base URL ends with `/v1`.

use super::{KEY, assert_no_key, node, program, python, record_with, replay, with};
use crate::support::cli::Place;
use crate::support::server::{Reply, Server};

/// Where the requests of each SDK go when the user names the upstreams.
const UPSTREAMS: [&str; 5] = ["openai", "anthropic", "gemini", "ollama", "together"];

/// Keys, without which SDKs do not start.
const KEYS: [(&str, &str); 3] =
    [("ANTHROPIC_API_KEY", KEY), ("GEMINI_API_KEY", KEY), ("TOGETHER_API_KEY", KEY)];

/// Records a program whose SDKs have nothing but what retold sets, stops the server, and replays it.
fn recorded(program: &[&str], place: &Place) {
    let upstream = super::apis::server();
    let named = |name: &&str| format!("--upstream {name}=http://{}/{name}", upstream.address());
    let named: Vec<String> = UPSTREAMS.iter().map(named).collect();
    let nowhere = "http://127.0.0.1:1/v1";
    let recorded = record_with(place, &named.join(" "), nowhere, program, &KEYS);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    for received in upstream.received() {
        let path = received.target.as_str();
        let is_right = match path.split('/').nth(1) {
            // Where the real APIs have them.
            Some("anthropic") => path == "/anthropic/v1/messages",
            Some("together") => path == "/together/v1/chat/completions",
            Some("gemini") => path.starts_with("/gemini/v1") && path.ends_with(":generateContent"),
            Some("ollama") => path == "/ollama/api/chat",
            _ => ["/openai/chat/completions", "/openai/responses"].contains(&path),
        };
        assert!(is_right, "{path}");
    }
    let used = |name: &&&str| {
        let below = format!("/{name}/");
        upstream.received().iter().any(|received| received.target.starts_with(&below))
    };
    assert!(UPSTREAMS.iter().filter(used).count() >= 4, "{}", recorded.err);
    drop(upstream);
    assert_no_key(place, &recorded);
    let replayed = replay(place, "latest", program);
    assert_eq!((replayed.code, &replayed.out), (0, &recorded.out), "{}", replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn sdks_for_node_work_with_the_variables_that_are_set() {
    let place = Place::new();
    node::with_packages(&place);
    std::fs::copy(program("versions_study.mjs"), place.path("study.mjs")).unwrap();
    recorded(&["node", "study.mjs"], &place);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn sdks_for_python_work_with_the_variables_that_are_set() {
    let script = program("versions_study.py");
    recorded(&[&python::python(), script.to_str().unwrap()], &Place::new());
}

/// With `/v1` or without it, in the path and in the base URL that the user gives: one place, one
/// prompt, one call.
#[test]
fn a_version_in_the_path_or_not_is_the_same_question() {
    for (name, variable, path) in [
        ("anthropic", "ANTHROPIC_BASE_URL", "/messages"),
        ("together", "TOGETHER_BASE_URL", "/chat/completions"),
    ] {
        let version = format!("/v1{path}");
        for base in ["", "/v1"] {
            let place = Place::new();
            let upstream = Server::handler(|_| {
                Reply::new(
                    200,
                    r#"{"content":[{"type":"text","text":"x"}],"choices":[{"message":{"content":"x"}}]}"#,
                )
            });
            let ask = |path: &str| {
                format!(
                    "curl -sS --max-time 20 ${variable}{path} -d \
                    '{{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}'; "
                )
            };
            let script = format!("{}{}", ask(&version), ask(path));
            let url = format!("http://{}{base}", upstream.address());
            let program = ["sh", "-c", script.as_str()];
            let set = [(variable, url.as_str())];
            let recorded = record_with(&place, "", "http://127.0.0.1:1", &program, &set);
            assert_eq!(recorded.code, 0, "{}", recorded.err);
            let asked = upstream.received();
            let is_right = asked.iter().all(|it| it.target == version);
            assert!(asked.len() == 2 && is_right, "{name} {base}");
            drop(upstream);
            let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
            let sql = "SELECT DISTINCT call, prompt FROM exchanges";
            assert_eq!(crate::support::rows::rows(&db, sql).len(), 1, "{name} {base}");
            // A program that looks for it elsewhere gets the same answers.
            let other = format!("{}{}", ask(path), ask(path));
            let other = ["sh", "-c", other.as_str()];
            let replayed = with(&place, "replay latest", "http://127.0.0.1:1", &other, &[]);
            assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
        }
    }
}
