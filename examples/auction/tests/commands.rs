//! Every command, for a study that retold does not know.
#![cfg(test)] // so that clippy knows the helper for test code, too

use std::process::Command;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/auction.yaml");

/// Runs the program in a folder; returns what it printed.
fn auction(folder: &tempfile::TempDir, args: &str, code: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_auction"));
    command.args(args.split_whitespace()).current_dir(folder.path()).env_clear();
    let output = command.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "auction {args}\n{out}{err}");
    format!("{out}{err}")
}

#[test]
fn a_study_of_ones_own_has_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = auction(&folder, &format!("run {CONFIG} --quiet"), 0);
    assert!(recorded.contains("wins with"), "{recorded}");
    assert!(auction(&folder, "replay latest", 0).contains("identical"));
    assert!(auction(&folder, "run --resume latest --quiet", 0).contains("wins with"));
    assert!(auction(&folder, "show latest", 0).contains("experiment auction, seed 7"));
    assert!(auction(&folder, "audit latest round/2/Bob", 0).contains("first_number"));
    assert!(auction(&folder, "check latest", 0).contains("bid@1"));
    auction(&folder, "check latest --parser bid", 0);
    auction(&folder, "check latest --snapshots snapshots", 0);
    auction(&folder, "fork latest --set rounds=5 --quiet", 0);
    auction(&folder, "verify", 0);
    auction(&folder, "verify head", 0);
    auction(&folder, "log", 0);
    auction(&folder, "export latest run.jsonl", 0);
    auction(&folder, "export latest answers.jsonl --as exchanges", 0);
    auction(&folder, "import run.jsonl --log other.db", 0);
    auction(&folder, "replay latest --log other.db", 0);
    auction(&folder, "copy --to copy.db", 0);
    assert!(auction(&folder, "check --text - --parser bid", 0).contains("no_bid"));
    // The study has no output files, no templates and no original runs, and its run has finished:
    // each of these commands says so.
    auction(&folder, "export latest tables --as outputs", 2);
    auction(&folder, "replay latest --prompts .", 2);
    auction(&folder, "import auction somewhere", 2);
    auction(&folder, "run --abandon latest", 2);
}

/// What is to be typed next is this program's, on the log that was given.
#[test]
fn commands_that_are_shown_can_be_typed() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = auction(&folder, &format!("run {CONFIG} --quiet"), 0);
    assert!(recorded.contains("\n  auction replay "), "{recorded}");
    let recorded = auction(&folder, &format!("run {CONFIG} --quiet --log other.db"), 0);
    assert!(recorded.contains("\n  auction --log other.db replay "), "{recorded}");
    let said = auction(&folder, "replay 0123 --log other.db", 2);
    assert!(said.contains("hint: `auction --log other.db log` lists the runs\n"), "{said}");
    let shown = auction(&folder, "show latest --log other.db", 0);
    assert!(shown.contains("`auction --log other.db verify "), "{shown}");
    for help in ["--help", "run --help", "check --help", "help fork"] {
        let said = auction(&folder, help, 0);
        assert!(said.contains("auction") && !said.contains("`retold "), "{said}");
    }
}

#[test]
fn a_program_has_commands_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    assert!(auction(&folder, "--help", 0).contains("Print the rules"));
    assert_eq!(auction(&folder, "rules", 0), "The highest bid wins.\n");
}

/// None of its studies has a command of its own.
#[test]
fn commands_of_other_programs_are_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let said = auction(&folder, "play auction.yaml", 2);
    assert!(said.contains("unrecognized subcommand 'play'"), "{said}");
    assert!(!auction(&folder, "--help", 0).contains(", study"));
}

#[test]
fn other_studies_and_their_parsers_are_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let said = auction(&folder, &format!("run {CONFIG} --experiment game24"), 2);
    assert!(said.contains("the experiments are auction"), "{said}");
    let said = auction(&folder, "check --text - --parser game24", 2);
    assert!(said.contains("the parsers are bid"), "{said}");
}

#[test]
fn it_is_short() {
    let text = include_str!("../src/main.rs");
    assert!(text.lines().count() < 150, "{} lines", text.lines().count());
}
