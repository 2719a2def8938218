//! Python programs with the providers' own SDKs, none of which knows anything of retold.

use std::path::Path;

use super::upstream::{Failing, server};
use super::{KEY, assert_no_key, program, record, record_with, replay};
use crate::support::cli::Place;

/// The interpreter with the SDKs that `scripts/test` installs.
pub(super) fn python() -> String {
    let python = Path::new(env!("RETOLD_ROOT")).join("target/clients/python/bin/python");
    python.to_str().unwrap().to_owned()
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn openai_s_sdk_gets_the_same_answers_again() {
    let (place, script) = (Place::new(), program("openai_study.py"));
    let (python, script) = (python(), script.to_str().unwrap().to_owned());
    let program = [python.as_str(), script.as_str()];
    let upstream = server(Failing { one_in: 5 });
    let recorded = record(&place, "", &upstream.base_url(), &program);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.err.contains("failed attempt"), "it was tried again: {}", recorded.err);
    drop(upstream);
    assert_no_key(&place, &recorded);
    let replayed = replay(&place, "latest", &program);
    assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
    assert_eq!(
        (replayed.code, replayed.err.contains("never asked")),
        (0, false),
        "{}",
        replayed.err
    );
    place.ok("verify");
}

#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
#[test]
fn the_sdks_of_other_apis_get_the_same_answers_again() {
    let (place, script) = (Place::new(), program("apis_study.py"));
    let (python, script) = (python(), script.to_str().unwrap().to_owned());
    let program = [python.as_str(), script.as_str()];
    let upstream = super::apis::server();
    let address = format!("http://{}", upstream.address());
    let set: Vec<(&str, String)> = vec![
        ("ANTHROPIC_BASE_URL", format!("{address}/anthropic")),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", format!("{address}/gemini")),
        ("GEMINI_API_KEY", KEY.to_owned()),
    ];
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let recorded = record_with(&place, "", &format!("{address}/openai"), &program, &set);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    drop(upstream);
    assert_no_key(&place, &recorded);
    let replayed = replay(&place, "latest", &program);
    assert_eq!(replayed.out, recorded.out, "{}", replayed.err);
    assert_eq!(
        (replayed.code, replayed.err.contains("never asked")),
        (0, false),
        "{}",
        replayed.err
    );
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
    place.ok("verify");
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
