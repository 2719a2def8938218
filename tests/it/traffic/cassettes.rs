//! Cassettes of vcrpy: each of their requests, sent again by a plain client that reads the cassette
//! with vcrpy's own loader, gets the recorded answer.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::cli::{Place, Said};
use crate::support::data;

/// Keys, cookies and signatures that are in our cassettes.
const SECRETS: &[&str] = &[
    "sk-live-cassette-0123456789abcdef",
    "sk-ant-0123456789abcdef",
    "AIza-key-0123456789",
    "cookie-0123456789",
    "signature-0123456789",
];

fn ours() -> Vec<PathBuf> {
    let folder = Path::new(env!("RETOLD_ROOT")).join("fixtures/cassettes");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end != "md")).collect();
    files.sort();
    assert_eq!(files.len(), 4);
    files
}

pub(super) fn recorded_elsewhere() -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![data::folder("cassettes")], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    assert_eq!(found.len(), 186);
    found
}

/// Imports a cassette; returns what was printed about it.
fn import(place: &Place, cassette: &Path) -> Value {
    let said = place.args(&["import", cassette.to_str().unwrap(), "--json"]);
    assert_eq!(said.code, 0, "{}: {}", cassette.display(), said.err);
    serde_json::from_str(&said.out).unwrap()
}

/// What the plain client reports when it sends the requests of a cassette again, or one that is
/// changed.
fn replayed(
    place: &Place,
    cassette: &Path,
    imported: &Value,
    seed: Option<usize>,
) -> (Value, Said) {
    let root = Path::new(env!("RETOLD_ROOT"));
    let python = root.join("target/clients/python/bin/python");
    let client = root.join("tests/it/traffic/programs/cassette.py");
    let report = place.path("report.json");
    let mut command = place.command();
    command.args(["replay", imported["run"].as_str().unwrap(), "--"]).arg(python).arg(client);
    command.arg(cassette).arg(imported["upstreams"].to_string()).arg(&report);
    command.args(seed.map(|seed| seed.to_string())).env("PATH", super::PATH);
    let said = Said::ended(&mut command);
    let text = std::fs::read_to_string(&report)
        .unwrap_or_else(|_| panic!("{}: {}", cassette.display(), said.err));
    std::fs::remove_file(report).unwrap();
    (serde_json::from_str(&text).unwrap(), said)
}

/// How often something was noted.
fn noted(imported: &Value, what: &str) -> u64 {
    let notes = imported["not_represented"].as_array().unwrap();
    let found = notes.iter().find(|note| note["what"].as_str().unwrap().starts_with(what));
    found.map_or(0, |note| note["times"].as_u64().unwrap())
}

/// Every request of these cassettes gets its recorded answer, and none is left. Returns their number.
fn all_are_replayed(cassettes: &[PathBuf]) -> u64 {
    let place = Place::new();
    let mut sent = 0;
    for cassette in cassettes {
        let imported = import(&place, cassette);
        let (report, said) = replayed(&place, cassette, &imported, None);
        let shown = cassette.display();
        assert_eq!(report["differences"], Value::Array(Vec::new()), "{shown}");
        assert_eq!(said.code, 0, "{shown}: {}", said.err);
        let left = match noted(&imported, "that an exchange was not HTTP") {
            0 => None,
            1 => Some("1 recorded request was never asked:".to_owned()),
            n => Some(format!("{n} recorded requests were never asked:")),
        };
        match left {
            Some(left) => assert!(said.err.contains(&left), "{shown}: {}", said.err),
            None => assert!(!said.err.contains("never asked"), "{shown}: {}", said.err),
        }
        for lost in ["an exchange:", "an answer:"] {
            assert_eq!(noted(&imported, lost), 0, "{shown}");
        }
        sent += report["sent"].as_u64().unwrap();
    }
    place.ok("verify");
    sent
}

/// Of one random request in each of so many cassettes, one random field is changed: the miss names it.
fn changes_are_named(cassettes: &[PathBuf], times: usize) {
    let place = Place::new();
    let mut imported: Vec<Option<Value>> = vec![None; cassettes.len()];
    let mut tried = 0;
    for seed in 0.. {
        if tried == times {
            break;
        }
        assert!(seed < 3 * times, "too few cassettes have a request that can be changed");
        // A step that shares no divisor with their number reaches all of them.
        let at = seed * 101 % cassettes.len();
        let cassette = &cassettes[at];
        let imported = imported[at].get_or_insert_with(|| import(&place, cassette));
        let (report, said) = replayed(&place, cassette, imported, Some(seed));
        if report["sent"] == 0 {
            continue;
        }
        let shown = format!("{}, seed {seed}: {report}", cassette.display());
        assert_eq!((&report["status"], said.code), (&404.into(), 1), "{shown}");
        assert_eq!(report["named"], report["due"], "{shown}");
        tried += 1;
    }
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
fn every_request_of_our_cassettes_gets_its_recorded_answer() {
    assert_eq!(all_are_replayed(&ours()), 38);
}

#[test]
#[cfg_attr(
    not(all(shared_data, real_clients)),
    ignore = "needs ../shared/data (cassettes) and the SDKs that scripts/test installs"
)]
fn every_request_of_186_cassettes_gets_its_recorded_answer() {
    assert_eq!(all_are_replayed(&recorded_elsewhere()), 441);
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
fn a_changed_field_of_our_cassettes_is_named() {
    changes_are_named(&ours(), 25);
}

#[test]
#[cfg_attr(
    not(all(shared_data, real_clients)),
    ignore = "needs ../shared/data (cassettes) and the SDKs that scripts/test installs"
)]
fn a_changed_field_is_named_in_100_of_100_changes() {
    changes_are_named(&recorded_elsewhere(), 100);
}

#[test]
fn keys_cookies_and_signatures_of_a_cassette_are_not_stored() {
    let place = Place::new();
    for cassette in ours() {
        let text = std::fs::read_to_string(&cassette).unwrap();
        let said = place.args(&["import", cassette.to_str().unwrap()]);
        assert_eq!(said.code, 0, "{}", said.err);
        let wal = std::fs::read(place.path("retold.db-wal")).unwrap_or_default();
        let log = std::fs::read(place.path("retold.db")).unwrap();
        for bytes in [&log[..], &wal, said.out.as_bytes(), said.err.as_bytes()] {
            for secret in SECRETS {
                assert!(memchr::memmem::find(bytes, secret.as_bytes()).is_none(), "{secret}");
            }
        }
        if cassette.ends_with("trouble.yaml") {
            assert!(SECRETS.iter().all(|secret| text.contains(secret)));
        }
    }
}

/// What is printed, without the run's id.
pub(super) fn said(place: &Place, args: &str) -> String {
    let said = place.run(args);
    let shown = place.shown(args, &said);
    let time = regex::Regex::new(r"\d{4}-\d\d-\d\dT[0-9:.]+Z").unwrap();
    let shown = time.replace_all(&shown, "[time]");
    let id = regex::Regex::new("[0-9a-f]{8,64}").unwrap();
    id.replace_all(&shown, "[run]").replace(env!("RETOLD_ROOT"), "[root]")
}

#[test]
fn an_import_says_what_it_found_and_what_it_cannot_represent() {
    let place = Place::new();
    let mut text = String::new();
    for cassette in ours() {
        std::fs::copy(&cassette, place.path(cassette.file_name().unwrap().to_str().unwrap()))
            .unwrap();
    }
    text += &said(&place, "import trouble.yaml");
    text += &said(&place, "show latest");
    text += &said(&place, "log latest");
    text += &said(
        &place,
        "import forms.json --name small --upstream llm=https://api.openai.com --ignore seed",
    );
    text += &said(&place, "import not_http.yaml");
    text += &said(&place, "show latest");
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_wrong_with_a_cassette_is_said_with_its_place() {
    let place = Place::new();
    let bomb: String = (1..12)
        .map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(",")))
        .collect();
    let one = |request: &str, response: &str| {
        format!("interactions:\n- request:\n    {request}\n  response:\n    {response}\n")
    };
    let (request, response) = (
        "{method: GET, uri: 'https://h/', headers: {}}",
        "{status: {code: 200}, body: {string: ''}, headers: {}}",
    );
    for (name, text) in [
        ("empty.yaml", "interactions: []\n".to_owned()),
        ("list.yaml", "interactions: 3\n".to_owned()),
        ("broken.yaml", "interactions:\n- request: {method: GET\n".to_owned()),
        ("bomb.yaml", format!("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n{bomb}interactions: *a11\n")),
        ("deep.yaml", format!("interactions: {}\n", "[".repeat(500))),
        ("no_uri.yaml", one("{method: GET}", response)),
        ("not_a_uri.yaml", one("{method: GET, uri: 'ftp://u:hunter2-hunter2@h/x'}", response)),
        ("status.yaml", one(request, "{status: {code: 7}}")),
        ("no_status.yaml", one(request, "{body: {string: ''}}")),
        ("body.yaml", one(request, "{status: {code: 200}, body: {string: [1]}}")),
        ("base64.yaml", one(request, "{status: {code: 200}, body: {base64_string: '%%%'}}")),
        ("binary.yaml", one(request, "{status: {code: 200}, body: {string: !!binary '%'}}")),
        ("old.yaml", "interactions:\n- foo: 1\n".to_owned()),
        ("cut.json", "{\"version\": 1, \"interactions\": [{\"request\": {\"method\"".to_owned()),
    ] {
        place.write(name, text);
    }
    place.write("utf16.yaml", [b"interactions:\n- ".as_slice(), b"\xFF\xFE"].concat());
    let mut text = String::new();
    for name in [
        "empty.yaml", "list.yaml", "broken.yaml", "bomb.yaml", "deep.yaml", "no_uri.yaml",
        "not_a_uri.yaml", "status.yaml", "no_status.yaml", "body.yaml", "base64.yaml",
        "binary.yaml", "old.yaml", "cut.json", "utf16.yaml",
    ] {
        text += &said(&place, &format!("import {name}"));
    }
    text += &said(&place, "import small.yaml --format vcrpy");
    text += &said(&place, "import absent.yaml --format vcrpy");
    text += &said(&place, "import empty.yaml --upstream x");
    text += &said(&place, "import empty.yaml --replace x");
    assert!(!text.contains("hunter2"), "{text}");
    // What cannot be imported leaves no log; what is skipped within a cassette is listed.
    insta::assert_snapshot!(text);
}
