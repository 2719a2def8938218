//! Recordings of Ruby's VCR, Betamax, go-vcr, langchain-tests, Polly.js and nock: each becomes a run that is
//! replayed, and no key is in the log.

use serde_json::json;

use super::cassettes::said;
use super::others::{asked, exchanges, place};
use crate::support::cli::Place;

/// The files, the first question and how often it was asked, and what was answered.
const RECORDED: &[(&str, &str, &[&str])] = &[
    ("vcr/ruby.yml", "Hi", &["Hello", "Slow down", "Gr"]),
    ("vcr/betamax.json", "Hi", &["Hello"]),
    ("vcr/langchain.yaml.gz", "Bye", &["Ciao"]),
    ("vcr/govcr.yaml", "Hi", &["Hello", "Slow down"]),
    ("vcr/documents.yaml", "Hi", &["Hello", "Hello again"]),
    ("har/polly.har", "Hi", &["Hello", "Hello again", "Third", "Fourth"]),
    ("har/polly.har.yaml", "yes", &["Hello"]),
    ("nock/chat.json", "Hi", &["Hello", "Hello again"]),
];

/// What was cut or is not what its API answers is imported, and listed.
#[test]
fn answers_that_cannot_be_read_are_listed() {
    let place = Place::new();
    let interaction = |body: &str, kind: &str, question: &str| {
        let sent =
            json!({"model": "m", "messages": [{"role": "user", "content": question}]}).to_string();
        json!({"request": {"method": "POST", "uri": "https://api.openai.com/v1/chat/completions", "body": sent, "headers": {}},
            "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": body}, "headers": {"content-type": [kind]}}})
    };
    let interactions = [
        interaction("{\"id\": \"c1\", \"choi", "application/json", "cut"),
        interaction("<html>welcome</html>", "text/html", "page"),
    ];
    place.write("doubtful.json", json!({"version": 1, "interactions": interactions}).to_string());
    insta::assert_snapshot!(said(&place, "import doubtful.json"));
}

/// A file with several documents says in which of them it is wrong.
#[test]
fn what_is_wrong_with_a_document_is_said_with_its_number() {
    let place = place(&["vcr/documents.yaml"]);
    let documents = place.read("documents.yaml");
    place.write("odd.yaml", format!("{documents}---\nother: 1\n"));
    let odd = place.run("import odd.yaml");
    let due = "odd.yaml, document 3: it has no \"interactions\"";
    assert!(odd.code == 2 && odd.err.contains(due), "{}", odd.err);
}

#[test]
fn recordings_of_other_recorders_are_runs_that_are_replayed() {
    for (file, question, answers) in RECORDED {
        let place = place(&[file]);
        let name = file.rsplit('/').next().unwrap();
        let text = said(&place, &format!("import {name}"));
        insta::with_settings!({snapshot_suffix => name.replace('.', "_")}, {
            insta::assert_snapshot!(text + &exchanges(&place));
        });
        let replayed = asked(&place, "replay latest", question, answers.len());
        let lines: Vec<&str> = replayed.out.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), answers.len(), "{file}: {}{}", replayed.out, replayed.err);
        for (line, answer) in lines.iter().zip(*answers) {
            assert!(line.contains(answer), "{file}: {answer}: {line}");
        }
        let log = std::fs::read(place.path("retold.db")).unwrap();
        assert!(memchr::memmem::find(&log, b"0123456789abcdef").is_none(), "{file}");
    }
    // A cassette is replayed without a log, also a packed one.
    let place = place(&["vcr/langchain.yaml.gz"]);
    let replayed = asked(&place, "replay langchain.yaml.gz", "Bye", 1);
    assert!(replayed.out.contains("Ciao"), "{}", replayed.err);
}
