//! The state at an event is the state that the run had there.

use retold::prompt::canonical;
use serde_json::Value;

use super::{Served, imported, recorded, runs};
use crate::support::cli::Place;

/// The recorded digest of an entry of a state.
fn digest(value: &Value) -> String {
    blake3::hash(canonical(value).unwrap().as_bytes()).to_string()
}

#[test]
fn the_state_at_the_end_has_the_recorded_digests() {
    let place = recorded();
    let served = Served::log(&place, "all.db");
    let (mut compared, mut states) = (0, 0);
    for run in runs(&served) {
        let page = served.json(&format!("/run/{run}/state"));
        let (said, _) = place.json(&format!("--log all.db show {run} {}", page["end"]));
        let Some(end) = said["body"]["state"]["end"].as_object() else { continue };
        for (key, recorded) in end {
            assert_eq!(digest(&page["state"][key]), recorded.as_str().unwrap(), "{run} {key}");
            compared += 1;
        }
        states += 1;
    }
    assert!(states == 5 && compared > 10, "{states} {compared}");
}

/// Whatever the order in which one looks: the state follows from the event alone.
#[test]
fn going_back_and_forth_changes_nothing() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    for run in runs(&served) {
        let at = |seq: u64| served.json(&format!("/run/{run}/state?at={seq}"));
        let end = served.json(&format!("/run/{run}/state"))["end"].as_u64().unwrap();
        let seqs: Vec<u64> = (1..=end).step_by((end / 13).max(1) as usize).collect();
        let forth: Vec<Value> = seqs.iter().map(|seq| at(*seq)).collect();
        for (seq, before) in seqs.iter().zip(&forth).rev() {
            assert_eq!(at(*seq), *before, "{run} at {seq}");
        }
        let facts: Vec<u64> = forth.iter().map(|page| page["facts"].as_u64().unwrap()).collect();
        assert!(facts.is_sorted() && facts[0] == 0, "{facts:?}");
    }
}

#[test]
fn what_a_fact_changed_is_marked() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    let mut marked = 0;
    for run in runs(&served) {
        let facts = served.json(&format!("/run/{run}?kind=Occurred"));
        for fact in facts["rows"].as_array().unwrap().iter().step_by(9) {
            let page = served.json(&format!("/run/{run}/state?at={}", fact["seq"]));
            assert_eq!(page["fact"]["seq"], fact["seq"]);
            let previous = &page["previous"];
            let before = served.json(&format!("/run/{run}/state?at={previous}"));
            assert_eq!(
                page["tree"]["changed"],
                before["state"] != page["state"],
                "{run} {}",
                fact["seq"]
            );
            assert_eq!(before["next"], fact["seq"]);
            marked += usize::from(page["tree"]["changed"] == true);
        }
    }
    assert!(marked > 10, "{marked}");
}

/// The terminal folds with the same code.
#[test]
fn the_state_in_the_terminal_is_that_of_the_page() {
    let place = imported();
    let served = Served::log(&place, "all.db");
    for run in runs(&served) {
        let end = served.json(&format!("/run/{run}/state"))["end"].as_u64().unwrap();
        for at in (1..=end).step_by((end / 5).max(1) as usize) {
            let page = served.json(&format!("/run/{run}/state?at={at}"));
            let (shown, code) = place.json(&format!("--log all.db show {run} --at {at}"));
            assert_eq!((code, &shown["state"]), (0, &page["state"]), "{run} at {at}");
            assert_eq!(shown["as_of"]["facts"], page["facts"], "{run} at {at}");
            let last = page["fact"].get("seq").unwrap_or(&Value::Null);
            assert_eq!(shown["as_of"]["last_fact"], *last, "{run} at {at}");
        }
    }
}

/// Situations and derived decisions are listed, and each is shown as in the terminal.
#[test]
fn parts_of_a_study_are_shown_as_in_the_terminal() {
    let place = Place::new();
    for (config, kind) in [("public_goods", "situations"), ("deliberation", "derived")] {
        let config = format!("{}/config/{config}_small.yaml", env!("RETOLD_ROOT"));
        place.ok(&format!("run {config} -q --no-outputs"));
        let served = Served::log(&place, "retold.db");
        let page = served.json("/run/latest/parts");
        let names = page[kind].as_array().unwrap();
        assert!(names.len() > 3, "{page}");
        let name = names[0].as_str().unwrap();
        let part = served.json(&format!("/run/latest/parts?name={}", name.replace('/', "%2F")));
        let text = part["text"].as_str().unwrap();
        let command = if kind == "derived" { "audit" } else { "show" };
        let said = place.ok(&format!("{command} latest {name}"));
        assert!(said.contains(text.trim_end()), "{said} {text}");
        assert!(served.html("/run/latest/parts").contains(&format!(">{name}</a>")));
        assert_eq!(served.get("/run/latest/parts?name=none").status, 404);
    }
    place.ok("run small.yaml -q --no-outputs");
    let page = Served::log(&place, "retold.db").html("/run/latest/parts");
    assert!(page.contains("This run has neither."), "{page}");
}
