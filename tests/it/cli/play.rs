//! `retold study adventure play`, with a person at the other end of a pipe.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::waiting::ended;

pub(super) const GAME: &str = "\
experiment: adventure
seed: 3
turns: 5
opening: A stranger comes to town.
hero: The stranger.
location: Boot Hill
inventory: [Revolver]
request:
  model: m
model:
  rates:
    malformed: 0
";

fn place() -> Place {
    let place = Place::new();
    place.write("game.yaml", GAME);
    place
}

/// Runs a command with lines for it to read.
fn typed(place: &Place, args: &str, lines: &str) -> Said {
    let mut command = place.command();
    command.args(args.split_whitespace()).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that has already ended reads no more.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    Said::new(ended(child))
}

fn run_of(said: &Said) -> Value {
    assert_eq!(said.out.lines().count(), 1, "one object\n{}{}", said.out, said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn a_game_from_beginning_to_end() {
    let place = place();
    let said = typed(&place, "study adventure play game.yaml --quiet", "1\nhop\n\n9\n2\n1\n1\n");
    assert_said!("play_whole", place.shown("study adventure play game.yaml --quiet", &said));
    // What was typed is in the log, and a replay asks no one for it.
    let (replayed, code) = place.json("replay latest");
    assert_eq!((code, &replayed["identical"]), (0, &true.into()), "{replayed}");
    let audit = place.ok("audit latest game/1/2/player#2");
    assert!(audit.contains("\n    2\n") && audit.contains("numbered_choice"), "{audit}");
    let chosen = place.ok("show latest");
    assert_eq!(chosen.matches(", human)").count(), 4, "{chosen}");
    assert!(chosen.contains("model simulated+human"), "{chosen}");
    place.ok("verify");
    place.ok("export latest game.jsonl");
    assert!(place.ok("replay game.jsonl").contains("replays identically"));
}

#[test]
fn a_game_that_was_left_can_continue() {
    let (at_once, in_parts) = (place(), place());
    let whole = run_of(&typed(&at_once, "study adventure play game.yaml --json", "1\n2\n1\n3\n"));
    assert_eq!(whole["outcome"], "finished", "{whole}");
    // First the input ends; then `q` is typed; then the game is played to its end.
    let left = typed(&in_parts, "study adventure play game.yaml --quiet", "1\n");
    assert_eq!(left.code, 0, "{}", left.err);
    assert!(left.out.contains("retold study adventure play --resume"), "{}", left.out);
    assert!(in_parts.ok("log").contains("unfinished"));
    let left =
        run_of(&typed(&in_parts, "study adventure play --resume latest --json", "2\nq\n1\n"));
    assert_eq!(left["outcome"], "left", "{left}");
    let ended = run_of(&typed(&in_parts, "study adventure play --resume latest --json", "1\n3\n"));
    assert_eq!(ended["outcome"], "finished", "{ended}");
    assert_eq!(ended["outcome_digest"], whole["outcome_digest"]);
    let (replayed, code) = in_parts.json("replay latest");
    assert_eq!((code, &replayed["outcome_digest"]), (0, &whole["outcome_digest"]), "{replayed}");
    in_parts.ok("verify");
}

/// Ctrl-C at the prompt, with the input still open: the game is left, and can be continued to the
/// same end.
#[test]
fn ctrl_c_at_the_prompt_leaves_a_game_that_can_continue() {
    let (at_once, in_parts) = (place(), place());
    let whole = run_of(&typed(&at_once, "study adventure play game.yaml --json", "1\n2\n1\n3\n"));
    let mut args = "study adventure play game.yaml --quiet".to_owned();
    // At the first prompt, with nothing chosen; then after a choice.
    for (lines, prompts) in [("", 1), ("1\n", 2)] {
        let mut command = in_parts.command();
        command.args(args.split_whitespace()).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(lines.as_bytes()).unwrap();
        let mut shown = Vec::new();
        let mut stdout = child.stdout.take().unwrap();
        let asked =
            |shown: &[u8]| String::from_utf8_lossy(shown).matches("or q to leave) > ").count();
        while asked(&shown) < prompts {
            let mut some = [0; 4096];
            let count = stdout.read(&mut some).unwrap();
            assert!(count > 0, "it ended: {}", String::from_utf8_lossy(&shown));
            shown.extend_from_slice(&some[..count]);
        }
        // A person waits a moment before pressing a key; by then the program is waiting for input.
        std::thread::sleep(Duration::from_millis(200));
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
        stdout.read_to_end(&mut shown).unwrap();
        let code = child.wait().unwrap().code();
        drop(stdin);
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(code, Some(130), "{shown}");
        assert!(shown.contains("retold study adventure play --resume"), "{shown}");
        assert!(in_parts.ok("log").contains("unfinished"));
        in_parts.ok("verify");
        args = "study adventure play --resume latest --quiet".to_owned();
    }
    let ended =
        run_of(&typed(&in_parts, "study adventure play --resume latest --json", "2\n1\n3\n"));
    assert_eq!(ended["outcome_digest"], whole["outcome_digest"], "{ended}");
    assert_eq!(in_parts.json("replay latest").0["identical"], true);
}

#[test]
fn the_other_option_from_any_turn_on() {
    let place = place();
    let parent = run_of(&typed(&place, "study adventure play game.yaml --json", "1\n1\n1\n1\n"));
    let (_, parent_digest) = (&parent["run"], &parent["outcome_digest"]);
    let fork =
        typed(&place, "study adventure play --fork latest --turn 3 --choose 2 --json", "1\n");
    let fork = run_of(&fork);
    assert_eq!(fork["outcome"], "finished", "{fork}");
    assert_ne!(&fork["outcome_digest"], parent_digest);
    // Up to the third turn the game is the parent's: a hero, three narrated turns, two choices.
    let (log, _) = place.json("log latest");
    let events = log["events"].as_array().unwrap();
    let of = |kind: &str| events.iter().filter(|e| e["kind"] == kind).count();
    let opponents = events
        .iter()
        .filter(|e| e["kind"] == "RequestSent" && e["call"].as_str().unwrap().ends_with("opponent"))
        .count();
    assert!(of("AnswerReused") >= 6, "{} reused, {opponents} opponents", of("AnswerReused"));
    assert_eq!(of("ResponseReceived") + of("AnswerReused"), 10 + opponents - 1);
    for event in events.iter().filter(|e| e["kind"] == "AnswerReused") {
        assert_eq!(event["body"]["run"], parent["run"], "{event}");
    }
    place.ok("export latest fork --as outputs");
    let journal: Value = serde_json::from_str(&place.read("fork/journal.json")).unwrap();
    let turns = journal["1"]["journal"].as_array().unwrap();
    let chose = |turn: usize| (turns[turn]["choice"].clone(), turns[turn]["by"].clone());
    assert_eq!(chose(1), (1.into(), "human".into()));
    assert_eq!(chose(2), (2.into(), "forced".into()));
    assert_eq!(chose(3), (1.into(), "human".into()));
    let (replayed, code) = place.json("replay latest");
    assert_eq!((code, &replayed["outcome_digest"]), (0, &fork["outcome_digest"]), "{replayed}");
    // A fork can be forked, and its file does not need its parent.
    let again = run_of(&typed(
        &place,
        "study adventure play --fork latest --turn 1 --choose 2 --json",
        "1\n1\n1\n",
    ));
    assert_eq!(again["outcome"], "finished", "{again}");
    place.ok("export latest again.jsonl");
    place.ok("replay again.jsonl");
    place.ok("verify");
}

#[test]
fn games_without_a_person_are_forked_too() {
    let place = place();
    place.ok("run game.yaml --quiet --set games=3 --set player=first");
    let (fork, code) =
        place.json("study adventure play --fork latest --game 2 --turn 2 --choose 2");
    assert_eq!((code, &fork["outcome"]), (0, &"finished".into()), "{fork}");
    // The other games have the same answers as before, and so does the second up to its second
    // turn.
    let (asked, all) = (fork["model_calls"].as_u64().unwrap(), fork["exchanges"].as_u64().unwrap());
    assert!(asked <= 6 && all >= 18, "{asked} of {all} asked");
    assert_eq!(place.json("replay latest").1, 0);
}

#[test]
fn what_cannot_be_played() {
    let place = place();
    let left = typed(&place, "study adventure play game.yaml --quiet", "1\n1\n");
    assert_eq!(left.code, 0, "{}", left.err);
    let shown = place.session(&[
        "study adventure play",
        "study adventure play game.yaml --resume latest",
        "study adventure play --fork latest --turn 1",
        "study adventure play game.yaml --turn 1 --choose 1",
        "study adventure play small.yaml",
        "run game.yaml --set player=human",
        "run --resume latest",
        "fork latest --at game/1/2/master",
        "study adventure play --fork latest --turn 3 --choose 1",
        "study adventure play --fork latest --turn 1 --choose 1",
        "study adventure play --fork latest --turn 1 --choose 8",
        "study adventure play --fork latest --game 2 --turn 1 --choose 2",
    ]);
    assert_said!("play_wrong", shown);
    place.ok("run small.yaml --quiet");
    let said = place.run("study adventure play --resume latest");
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("this is a run of game24, not of adventure"), "{}", said.err);
}

#[test]
fn what_a_model_writes_cannot_move_the_cursor() {
    let place = place();
    place.ok("run game.yaml --quiet --set player=first --set games=1");
    place.ok("export latest told.jsonl --as exchanges");
    let recorded = place.read("told.jsonl");
    let evil = "Red \\u001b[31mink\\u202e.\\nSUGGESTED_ACTIONS: [{\\\"text\\\": \\\"Run\\u0007\\\"}, \\\"Hide\\\"]";
    let lines = recorded.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["call"] == "game/1/1/master" {
            line["response"]["content"] = serde_json::from_str(&format!("\"{evil}\"")).unwrap();
        }
        format!("{line}\n")
    });
    place.write("told.jsonl", lines.collect::<String>());
    let said = typed(
        &place,
        "study adventure play game.yaml --quiet --answers told.jsonl --log evil.db",
        "",
    );
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("Red \\u{1b}[31mink\\u{202e}."), "{}", said.out);
    assert!(said.out.contains("1. Run\\u{7}"), "{}", said.out);
    let plain = |c: char| c == '\n' || !c.is_control();
    assert!(said.out.chars().all(plain), "{:?}", said.out);
}
