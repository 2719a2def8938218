//! What each command prints about a small run.

use crate::support::cli::{Place, assert_said, without_seqs};

const COMMANDS: &[&str] = &[
    "run",
    "resume",
    "abandon",
    "fork",
    "plan",
    "play",
    "record",
    "replay",
    "proxy",
    "check",
    "diff",
    "parse",
    "snapshot",
    "audit",
    "log",
    "show",
    "stats",
    "serve",
    "outputs",
    "report",
    "verify",
    "verify-proof",
    "head",
    "seal",
    "backup",
    "export",
    "import",
    "personas",
    "help",
];

#[test]
fn help() {
    let place = Place::new();
    assert_said!("help", place.session(&["--help", "--version"]));
}

#[test]
fn help_of_every_command() {
    let place = Place::new();
    let nested = ["personas import", "personas list", "personas stats"];
    let commands: Vec<String> =
        COMMANDS.iter().chain(&nested).map(|name| format!("{name} --help")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let shown = place.session(&commands);
    assert_said!("help_commands", shown);
    let whole = place.ok("--help");
    let listed = whole.lines().skip_while(|l| *l != "Commands:").skip(1);
    let listed = listed.take_while(|l| !l.is_empty());
    let listed = listed.filter(|l| !l.starts_with("    "));
    let listed: Vec<&str> = listed.filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(listed, COMMANDS, "every command is listed and has its help above");
}

#[test]
fn of_a_small_run() {
    let place = Place::new();
    let shown = place.session(&[
        "run small.yaml",
        "log",
        "show latest",
        "show latest 3",
        "replay latest",
        "resume latest",
        "verify",
        "verify latest",
        "export latest out.jsonl",
        "export latest out.gz --as exchanges --force",
        "import out.jsonl",
    ]);
    assert_said!("outputs_small", shown);
}

#[test]
fn of_its_events() {
    let place = Place::with_run();
    let shown = place.session(&["log latest --most 12", "log latest --after 12 --most 2"]);
    assert_said!("outputs_events", shown);
}

#[test]
fn of_an_audit() {
    let place = Place::with_run();
    let shown = place.session(&["audit latest solve/0#1", "show 69a53e80174f"]);
    assert_said!("outputs_audit", shown);
}

#[test]
fn of_a_check() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --set parser=game24@1 --set samples=10");
    let shown = place.session(&["check latest --most 3", "check latest --parser game24@1"]);
    assert_said!("outputs_check", without_seqs(&shown));
}

#[test]
fn the_canonical_request_hashes_to_its_name() {
    let place = Place::with_run();
    let prompt = place.json("audit latest solve/0#0").0["prompt_hash"].as_str().unwrap().to_owned();
    let canonical = place.ok(&format!("show {prompt} --canonical"));
    assert_eq!(blake3::hash(canonical.as_bytes()).to_string(), prompt);
}

#[test]
fn nothing_comes_after_the_last_event_of_all() {
    let place = Place::with_run();
    place.ok("run small.yaml --quiet");
    for after in ["4294967296", "18446744073709551615"] {
        let (log, code) = place.json(&format!("log latest --after {after}"));
        assert_eq!((code, log["events"].as_array().unwrap().len()), (0, 0), "{log}");
    }
}
