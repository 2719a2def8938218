//! Runs that are interrupted by a full file, a kill or Ctrl-C: each reaches the same end after it
//! is resumed.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::waiting::ended;

const LONGER: &str = "run small.yaml --quiet --set puzzles.rows=0..30 --set samples=10";

/// The digest of an uninterrupted run.
fn digest() -> Value {
    let (whole, code) = Place::new().json(LONGER);
    assert_eq!(code, 0, "{whole}");
    whole["outcome_digest"].clone()
}

/// Waits until the log has that many events.
pub(super) fn wait_for_events(place: &Place, events: i64) {
    for _ in 0..3000 {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let count = Connection::open_with_flags(place.path("retold.db"), flags).and_then(|db| {
            db.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0))
        });
        if count.is_ok_and(|n| n >= events) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the run does not get to {events} events");
}

fn start(place: &Place, args: &str) -> Child {
    let mut command = place.command();
    command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

#[test]
fn a_full_log_keeps_what_it_has() {
    let place = Place::new();
    let said = place.run(&format!("{LONGER} --log-limit 450000"));
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    // How many answers there was room for, and so how many of them are empty, depends on the disk.
    let (_, error) = said.err.split_once("error: ").unwrap();
    assert_said!("interrupted_full", format!("error: {error}[exit {}]\n", said.code));
    place.ok("verify");
    let (resumed, code) = place.json("run --resume latest");
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!(resumed["outcome_digest"], digest());
}

#[test]
fn a_full_log_is_one_object() {
    let place = Place::new();
    let (stopped, code) = place.json(&format!("{LONGER} --log-limit 450000"));
    assert_eq!((code, &stopped["outcome"]), (3, &"stopped".into()), "{stopped}");
    assert!(stopped["error"].as_str().unwrap().contains("no room"), "{stopped}");
}

#[test]
fn killed_again_and_again() {
    let place = Place::new();
    let mut args = format!("{LONGER} --set model.latency_ms=20 --concurrency 8");
    for events in [20, 150, 300, 450] {
        let mut child = start(&place, &args);
        wait_for_events(&place, events);
        child.kill().unwrap();
        child.wait().unwrap();
        place.ok("verify");
        args = "run --resume latest --quiet --concurrency 8".to_owned();
    }
    let (resumed, code) = place.json("run --resume latest --concurrency 64");
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!(resumed["outcome_digest"], digest());
    assert!(resumed["model_calls"].as_u64().unwrap() < 300, "what was answered is not asked again");
    let (replayed, code) = place.json("replay latest");
    assert_eq!((code, &replayed["identical"]), (0, &true.into()), "{replayed}");
}

#[test]
fn ctrl_c_finishes_what_is_in_flight() {
    let place = Place::new();
    let child = start(&place, &format!("{LONGER} --set model.latency_ms=400 --concurrency 8"));
    wait_for_events(&place, 20);
    signal(&child, "INT");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    assert!(said.out.contains("interrupted"), "{}", said.out);
    assert!(said.out.contains("retold run --resume"), "{}", said.out);
    assert_said!("interrupted_ctrl_c", format!("{}[exit {}]\n", said.err, said.code));
    // Every request that was sent has its answer.
    let (log, _) = place.json("log latest");
    let count =
        |kind| log["events"].as_array().unwrap().iter().filter(|e| e["kind"] == kind).count();
    assert_eq!(count("RequestSent"), count("ResponseReceived"));
    assert!(count("RequestSent") < 300, "it was interrupted before its end");
    assert!(place.ok("show latest").contains("unfinished: `retold run --resume "));
    let partly = place.ok("replay latest");
    assert!(
        partly.contains("replays with identical decisions and facts as far as it goes"),
        "{partly}"
    );
    let (resumed, code) = place.json("run --resume latest --concurrency 300");
    assert_eq!((code, &resumed["outcome_digest"]), (0, &digest()), "{resumed}");
}

/// While the game master answers, no one is at the prompt: the game stops like any run, and `play`
/// continues it.
#[test]
fn ctrl_c_while_a_games_master_answers() {
    let place = Place::new();
    place.write("game.yaml", super::play::GAME);
    let child = start(&place, "study adventure play game.yaml --quiet --set model.latency_ms=3000");
    // The run's start and the first question.
    wait_for_events(&place, 2);
    signal(&child, "INT");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    let (run, _) = place.json("show latest");
    let name = &run["run"].as_str().unwrap()[..4];
    let next = format!(
        "\nnext:\n  retold study adventure play --resume {name}   continue where it stopped\n"
    );
    assert!(said.out.ends_with(&next), "{}", said.out);
    place.ok(&format!("study adventure play --resume {name} --quiet"));
}

#[test]
fn sigterm_is_as_good_as_ctrl_c() {
    let place = Place::new();
    let child = start(&place, &format!("{LONGER} --set model.latency_ms=400 --concurrency 8"));
    wait_for_events(&place, 20);
    signal(&child, "TERM");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    assert!(said.out.contains("retold run --resume"), "{}", said.out);
    let (resumed, code) = place.json("run --resume latest --concurrency 300");
    assert_eq!((code, &resumed["outcome_digest"]), (0, &digest()), "{resumed}");
}

/// Closing a terminal ends its programs: each gets the signal once from the system and once from
/// the shell.
#[test]
fn sighup_is_as_good_as_sigterm() {
    let place = Place::new();
    // Also where these tests were themselves started with `nohup`.
    let mut command = Command::new("env");
    place.shut_off(&mut command);
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_retold")]);
    command.args(LONGER.split_whitespace());
    command.args(["--set", "model.latency_ms=400", "--concurrency", "8"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_events(&place, 20);
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(30));
    signal(&child, "HUP");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    assert!(said.out.contains("retold run --resume"), "{}", said.out);
    let (log, _) = place.json("log latest");
    let count =
        |kind| log["events"].as_array().unwrap().iter().filter(|e| e["kind"] == kind).count();
    assert_eq!(count("RequestSent"), count("ResponseReceived"), "what was in flight is finished");
    let (resumed, code) = place.json("run --resume latest --concurrency 300");
    assert_eq!((code, &resumed["outcome_digest"]), (0, &digest()), "{resumed}");
}

/// `nohup` starts programs that should outlive their terminal.
#[test]
fn sighup_is_ignored_where_it_was() {
    let place = Place::new();
    let mut command = Command::new("nohup");
    place.shut_off(&mut command);
    command.arg(env!("CARGO_BIN_EXE_retold")).args(LONGER.split_whitespace());
    command.args(["--set", "model.latency_ms=100", "--concurrency", "8"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_events(&place, 20);
    signal(&child, "HUP");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn ctrl_c_is_one_object() {
    let place = Place::new();
    let child =
        start(&place, &format!("{LONGER} --json --set model.latency_ms=300 --concurrency 8"));
    wait_for_events(&place, 20);
    signal(&child, "INT");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    let object: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(object["outcome"], "interrupted");
    for key in ["run", "experiment", "exchanges", "model_calls", "decisions"] {
        assert!(!object[key].is_null(), "{key}: {object}");
    }
    assert!(object["outcome_digest"].is_null(), "only what is finished has one: {object}");
}

/// A call may take minutes. A user who cannot wait presses Ctrl-C a second time.
#[test]
fn a_second_sigterm_ends_at_once() {
    let place = Place::new();
    let mut child = start(&place, "run small.yaml --set model.latency_ms=60000");
    wait_for_events(&place, 2);
    signal(&child, "TERM");
    // It has printed what it waits for, and keeps waiting.
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    let said = Said::new(ended(child));
    assert_eq!((said.code, said.out.as_str()), (130, ""), "{}", said.err);
    assert_said!("interrupted_twice", said.err);
    place.ok("verify");
    assert!(place.ok("show latest").contains("unfinished: `retold run --resume "));
}

/// A program that reads the output finds one object in it, even if nothing was waited for.
#[test]
fn a_second_sigterm_is_one_object() {
    let place = Place::new();
    let mut child = start(&place, "run small.yaml --json --set model.latency_ms=60000");
    wait_for_events(&place, 2);
    signal(&child, "TERM");
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    let said = Said::new(ended(child));
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    assert_said!("interrupted_twice_json", said.out);
    let object: Value = serde_json::from_str(&said.out).unwrap();
    let (shown, _) = place.json("show latest");
    assert_eq!(object["run"], shown["run"]);
}
