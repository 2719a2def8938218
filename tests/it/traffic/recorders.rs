//! Recordings of Ruby's VCR, Betamax, langchain-tests, Polly.js and nock: each becomes a run that is
//! replayed, and no key is in the log.

use super::cassettes::said;
use super::others::{asked, exchanges, place};

/// The files, the first question and how often it was asked, and what was answered.
const RECORDED: &[(&str, &str, &[&str])] = &[
    ("vcr/ruby.yml", "Hi", &["Hello", "Slow down", "Gr"]),
    ("vcr/betamax.json", "Hi", &["Hello"]),
    ("vcr/langchain.yaml.gz", "Bye", &["Ciao"]),
    ("vcr/documents.yaml", "Hi", &["Hello", "Hello again"]),
    ("har/polly.har", "Hi", &["Hello", "Hello again", "Third", "Fourth"]),
    ("har/polly.har.yaml", "yes", &["Hello"]),
    ("nock/chat.json", "Hi", &["Hello", "Hello again"]),
];

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
}
