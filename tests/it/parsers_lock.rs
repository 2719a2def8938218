//! No parser changes its decisions without a new version.
//!
//! `fixtures/parsers.lock` has, for every parser version and every frozen answer, a digest of the
//! answer and a digest of the decision. Once a version is released, its lines may never change, because
//! published numbers are made with it. New versions and new cases are added with `UPDATE_PARSERS_LOCK=1`,
//! which adds lines and changes none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::support::parsers as registry;
use retold::parse::ParserSpec;

use crate::support::cases::{cases, fixtures};

/// `name@version case` to `answer digest` and `decision digest`.
type Lock = BTreeMap<String, (String, String)>;

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// What today's parsers decide.
fn today() -> Lock {
    let mut lock = Lock::new();
    for (name, version) in registry::all() {
        for case in cases(name) {
            let spec = ParserSpec { name: name.into(), params: case.params, version };
            let parser = registry::parser(&spec).unwrap();
            let (parsed, verdict) = parser.parse_any(&case.answer);
            let decision = serde_json::to_string(&(parsed, verdict)).unwrap();
            let key = format!("{name}@{version} {}", case.name);
            lock.insert(key, (digest(&case.raw), digest(decision.as_bytes())));
        }
    }
    lock
}

fn read(text: &str) -> Lock {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [parser, case, answer, decision] = words[..] else {
                panic!("fixtures/parsers.lock: not four words: {line}");
            };
            (format!("{parser} {case}"), (answer.to_owned(), decision.to_owned()))
        })
        .collect()
}

fn write(lock: &Lock) -> String {
    let mut text = String::from(
        "# parser@version case digest-of-the-answer digest-of-the-decision\n\
         # Lines are only ever added: see tests/it/parsers_lock.rs.\n",
    );
    for (key, (answer, decision)) in lock {
        writeln!(text, "{key} {answer} {decision}").unwrap();
    }
    text
}

/// Every difference between today and the lock, except additions.
fn breaches(locked: &Lock, today: &Lock) -> Vec<String> {
    let breach = |(key, (answer, decision)): (&String, &(String, String))| match today.get(key) {
        None => Some(format!(
            "{key}: locked, but the parser version or the case is gone. Old versions stay callable \
             for ever, and cases are kept: bring it back"
        )),
        Some((now, _)) if now != answer => Some(format!(
            "{key}: the frozen answer was changed. Restore it, and freeze the new text under a new \
             name"
        )),
        Some((_, now)) if now != decision => Some(format!(
            "{key}: the decision changed. Leave this version as it was, and put the new rule into \
             a new version"
        )),
        Some(_) => None,
    };
    locked.iter().filter_map(breach).collect()
}

#[test]
fn decisions_change_only_with_the_version() {
    let path = fixtures("parsers.lock");
    let locked = read(&std::fs::read_to_string(&path).unwrap_or_default());
    let today = today();
    let breaches = breaches(&locked, &today);
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
    if locked == today {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "a switch for developers, in a test")]
    let update = std::env::var_os("UPDATE_PARSERS_LOCK").is_some();
    let new: Vec<&String> = today.keys().filter(|key| !locked.contains_key(*key)).collect();
    assert!(
        update,
        "not in fixtures/parsers.lock yet: {new:?}\nCheck their snapshots, then run \
         UPDATE_PARSERS_LOCK=1 cargo test --test it parsers_lock"
    );
    std::fs::write(path, write(&today)).unwrap();
}

#[test]
fn the_lock_covers_every_parser_version() {
    for (name, version) in registry::all() {
        assert!(!cases(name).is_empty(), "{name}@{version} has no frozen answers to be held to");
    }
}

#[test]
fn a_changed_decision_a_changed_answer_and_a_lost_case_are_breaches() {
    let entry = |answer: &str, decision: &str| (answer.to_owned(), decision.to_owned());
    let locked: Lock = [
        ("p@1 decision".to_owned(), entry("a", "d")),
        ("p@1 answer".to_owned(), entry("a", "d")),
        ("p@1 lost".to_owned(), entry("a", "d")),
        ("p@1 same".to_owned(), entry("a", "d")),
    ]
    .into();
    let today: Lock = [
        ("p@1 decision".to_owned(), entry("a", "other")),
        ("p@1 answer".to_owned(), entry("other", "d")),
        ("p@1 same".to_owned(), entry("a", "d")),
        ("p@2 new".to_owned(), entry("a", "d")),
    ]
    .into();
    let breaches = breaches(&locked, &today);
    assert_eq!(breaches.len(), 3, "{breaches:?}");
    assert!(breaches[0].contains("p@1 answer: the frozen answer was changed"));
    assert!(breaches[1].contains("p@1 decision: the decision changed"));
    assert!(breaches[2].contains("p@1 lost: locked"));
    assert_eq!(read(&write(&today)), today, "the file holds what was put in");
}
