//! What each command prints about a small run.

use crate::support::cli::{Place, assert_said, without_seqs};

#[test]
fn help() {
    let place = Place::new();
    let commands = ["--help", "-h", "--version", "verify --help", "check -h", "study --help"];
    assert_said!("help", place.session(&commands));
}

/// The page of each command is in `docs/commands.md`.
#[test]
fn the_first_page_names_every_command() {
    let page = Place::new().ok("--help");
    let words: Vec<&str> = page
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|it| !it.is_empty())
        .collect();
    let catalogue = retold_cli::program::catalogue().unwrap();
    let line = retold_cli::command_line(&catalogue, "retold");
    assert!(line.get_subcommands().count() >= 20, "the commands were not read");
    for command in line.get_subcommands() {
        assert!(words.contains(&command.get_name()), "{} is nowhere", command.get_name());
    }
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
        "run --resume latest",
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
