//! Python programs with the providers' own SDKs and with the frameworks on top of them, none of which
//! knows anything of retold.

use std::path::Path;

use super::upstream::{Failing, server};
use super::{KEY, again, program, record_with, replay, replay_with};
use crate::support::cli::{Place, Said};
use crate::support::server::Server;

/// The interpreter with the SDKs that `scripts/test` installs.
pub(super) fn python() -> String {
    client("python")
}

/// The one with the frameworks for agents, which want other versions of some of these SDKs.
pub(super) fn frameworks_python() -> String {
    client("frameworks")
}

fn client(environment: &str) -> String {
    let python = format!("target/clients/{environment}/bin/python");
    Path::new(env!("RETOLD_ROOT")).join(python).to_str().unwrap().to_owned()
}

/// Records a program of this folder against a server, stops the server, and replays the program.
/// Returns the place, and what the recorded program printed.
fn recorded(script: &str, upstream: Server, set: &[(&str, &str)]) -> (Place, Said) {
    let (place, script) = (Place::new(), program(script));
    let (python, script) = (python(), script.to_str().unwrap().to_owned());
    let said = again(&place, &[&python, &script], upstream, set);
    (place, said)
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk_gets_the_same_answers_again() {
    recorded("openai_study.py", server(Failing { one_in: 5 }), &[]);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn structured_output_responses_and_embeddings_of_openai_are_the_same_again() {
    let (place, said) = recorded("parts_study.py", server(Failing { one_in: 5 }), &[]);
    assert!(said.out.contains("['Answer 1 \u{20ac}', 'Answer 2 \u{20ac}', 'Answer 3 \u{20ac}']"));
    let log = place.ok("log latest");
    for call in ["openai.chat/", "openai.responses/", "openai.embeddings/"] {
        assert!(log.contains(call), "{call}: {log}");
    }
}

/// The agents' tools are questions, too, and take random times. What each agent gets is decided by
/// what it asks, not by when: also if only one request is made at a time, by the last agent first.
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn agents_get_the_same_answers_whatever_the_order_of_their_requests() {
    let (place, said) = recorded("agents.py", server(Failing { one_in: 6 }), &[]);
    assert_eq!(said.out.matches("number=").count(), 8, "{}", said.out);
    assert_eq!(said.out.matches("to \"Draw a number.\"").count(), 8, "{}", said.out);
    let (python, script) = (python(), program("agents.py"));
    let one_by_one = [("AT_ONCE", "1"), ("ORDER", "reversed")];
    let replayed = replay_with(&place, "latest", &[&python, script.to_str().unwrap()], &one_by_one);
    assert_eq!((replayed.code, &replayed.out), (0, &said.out), "{}", replayed.err);
    assert!(!replayed.err.contains("never asked"), "{}", replayed.err);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn anthropic_s_sdk_gets_the_same_streams_again() {
    let upstream = super::apis::server();
    let url = format!("http://{}/anthropic", upstream.address());
    let set = [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", KEY)];
    let (place, _) = recorded("anthropic_study.py", upstream, &set);
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT DISTINCT finish_reason, completion_tokens FROM exchanges WHERE call LIKE 'anthropic.%/stream'";
    assert_eq!(crate::support::rows::rows(&db, sql), [["end_turn", "5"]]);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn langchain_gets_the_same_answers_again() {
    recorded("langchain_study.py", server(Failing { one_in: 5 }), &[]);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn an_eval_of_inspect_has_the_same_result_again() {
    let (_, said) = recorded("inspect_study.py", server(Failing { one_in: 5 }), &[]);
    assert!(said.out.starts_with("success "), "{}", said.out);
    assert_eq!(said.out.matches("fine in Answer").count(), 8, "{}", said.out);
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn the_sdks_of_other_apis_get_the_same_answers_again() {
    let upstream = super::apis::server();
    let address = format!("http://{}", upstream.address());
    let set: Vec<(&str, String)> = vec![
        ("OPENAI_BASE_URL", format!("{address}/openai")),
        ("ANTHROPIC_BASE_URL", format!("{address}/anthropic")),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", format!("{address}/gemini")),
        ("GEMINI_API_KEY", KEY.to_owned()),
    ];
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (place, _) = recorded("apis_study.py", upstream, &set);
    // What was read out of each.
    let log = place.ok("log latest");
    for call in [
        "openai.responses/",
        "openai.embeddings/",
        "anthropic.messages/",
        "gemini.content/",
        "http/",
    ] {
        assert!(log.contains(call), "{call}: {log}");
    }
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT substr(call, 1, 9), answer, prompt_tokens, completion_tokens, finish_reason FROM exchanges
        WHERE call LIKE '%.%' AND call NOT LIKE 'openai.emb%' ORDER BY seq";
    insta::assert_snapshot!(
        crate::support::rows::rows(&db, sql)
            .iter()
            .map(|row| row.join(" | ") + "\n")
            .collect::<String>()
    );
}

/// Ollama's clients send what curl sends.
#[test]
fn ollama_s_lines_of_json_are_read_and_replayed() {
    let place = Place::new();
    let upstream = super::apis::server();
    let program = [
        "sh",
        "-c",
        "curl -sS --max-time 20 $OLLAMA_HOST/api/chat \
        -d '{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}'",
    ];
    let host = format!("http://{}/ollama", upstream.address());
    let recorded =
        record_with(&place, "", "http://127.0.0.1:1", &program, &[("OLLAMA_HOST", &host)]);
    drop(upstream);
    let replayed = replay(&place, "latest", &program);
    assert_eq!((replayed.code, replayed.out), (0, recorded.out), "{}", replayed.err);
    assert!(place.ok("log latest").contains("<- 2 One Answer 1"), "{}", place.ok("log latest"));
}
