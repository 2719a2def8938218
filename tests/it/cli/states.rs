//! What `replay` and `resume` report about the recorded state and outputs.

use retold::id::{EventsRoot, OutputDigest, StateDigest};
use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::forged::chained;
use crate::support::studies::STUDIES;

/// Imports a recording of a small run with a changed last event and recomputed hashes.
fn with_end(place: &Place, change: impl Fn(&mut Value)) {
    place.ok("export latest whole.jsonl -q");
    let lines = place.read("whole.jsonl");
    let mut lines: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    lines.iter_mut().filter(|line| line["kind"] == "RunFinished").for_each(|line| {
        change(&mut line["body"]);
    });
    place.write("changed.jsonl", chained(lines));
}

#[test]
fn the_end_of_every_study_has_digests_of_state_and_outputs() {
    for study in &STUDIES {
        let place = Place::new();
        place.ok(&study.run());
        let (log, _) = place.json("log latest");
        let end = log["events"].as_array().unwrap().last().unwrap()["body"].clone();
        assert!(!end["state"]["end"].as_object().unwrap().is_empty(), "{}: {end}", study.name);
        assert!(!end["state"]["marks"].as_array().unwrap().is_empty(), "{}: {end}", study.name);
        assert!(!end["outputs"].as_object().unwrap().is_empty(), "{}: {end}", study.name);
        let (replayed, code) = place.json("replay latest --outputs");
        assert_eq!((code, &replayed["state"]), (0, &json!("identical")), "{}", study.name);
        assert_eq!(replayed["outputs"]["different"], json!([]), "{}", study.name);
        assert_eq!(replayed["outputs"]["recorded"], true, "{}", study.name);
        place.ok("verify");
    }
}

#[test]
fn another_state_is_named_by_mark_and_entry() {
    let place = Place::with_run();
    with_end(&place, |end| {
        end["state"]["marks"][1]["entries"]["verdicts"] = json!(StateDigest([7; 32]));
        end["state"]["end"]["answers"] = json!(StateDigest([8; 32]));
    });
    let shown = place.session(&["replay latest", "replay changed.jsonl"]);
    assert_said!("states_replay", shown);
    let (replayed, code) = place.json("replay changed.jsonl");
    assert_eq!((code, &replayed["state"]), (1, &json!("differs")));
    assert_eq!(replayed["identical"], false);
    let differences = replayed["state_differences"].as_array().unwrap();
    assert_eq!(differences.len(), 2, "{replayed}");
    assert_eq!(differences[0]["mark"], "puzzle_2");
    assert_eq!(differences[0]["entry"], "verdicts");
    assert_eq!(differences[0]["recorded"], json!(StateDigest([7; 32])));
    assert_eq!(
        (&differences[1]["mark"], &differences[1]["entry"]),
        (&Value::Null, &json!("answers"))
    );
    // Resuming a finished run replays it.
    place.ok("import changed.jsonl --log other.db -q");
    let said = place.run("run --resume latest --log other.db");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.err.contains("the state is not: verdicts, answers"), "{}", said.err);
}

#[test]
fn another_output_is_named() {
    let place = Place::with_run();
    with_end(&place, |end| {
        end["outputs"]["answers.csv"] = json!(OutputDigest([7; 32]));
        end["outputs"]["gone.csv"] = json!(OutputDigest([7; 32]));
        end["outputs"].as_object_mut().unwrap().remove("puzzles.csv");
    });
    let commands = [
        "replay latest --outputs",
        "replay changed.jsonl --outputs",
        "replay changed.jsonl",
        "replay changed.jsonl --outputs --prompts here",
    ];
    assert_said!("states_outputs", place.session(&commands));
    let (replayed, code) = place.json("replay changed.jsonl --outputs");
    assert_eq!((code, &replayed["identical"]), (1, &json!(true)));
    let names: Vec<&Value> =
        replayed["outputs"]["different"].as_array().unwrap().iter().map(|d| &d["name"]).collect();
    assert_eq!(names, ["answers.csv", "gone.csv", "puzzles.csv"]);
}

#[test]
fn a_run_without_digests_says_so() {
    let place = Place::with_run();
    with_end(&place, |end| {
        for key in ["state", "outputs"] {
            end.as_object_mut().unwrap().remove(key);
        }
    });
    assert_said!("states_not_recorded", place.session(&["replay changed.jsonl --outputs"]));
    let (replayed, code) = place.json("replay changed.jsonl --outputs");
    assert_eq!((code, &replayed["state"]), (0, &json!("not recorded")));
    assert_eq!(replayed["outputs"], json!({"recorded": false, "files": null, "different": []}));
}

#[test]
fn a_root_of_other_events_is_damage() {
    let place = Place::with_run();
    with_end(&place, |end| end["events_root"] = json!(EventsRoot([7; 32])));
    let said = place.run("verify changed.jsonl");
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("it states the root 070707070707 over its events, but they give "),
        "{}",
        said.out
    );
}
