//! `retold show RUN p_0007`: what is told of a participant, and that it is what the log holds.

use std::path::Path;

use serde_json::Value;

use crate::support::cli::{Place, assert_said};

/// Eight participants, of whom some fail; one call at a time, so that the log is always the same.
fn place() -> Place {
    let place = Place::new();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/deliberation_small.yaml");
    let text = std::fs::read_to_string(config).unwrap();
    let text = text.replace("participants_per_condition: 10\n", "participants_per_condition: 2\n");
    let rates = "  rates:\n    malformed: 0.3\n    failure: 0.02\nlimits:\n  concurrency: 1\n";
    let trades = ["nurse", "farmer", "teacher", "baker", "lawyer", "pilot", "painter", "gardener"];
    let personas = trades.map(|trade| {
        format!(
            "{{\"persona\": \"a {trade} who \\u001b[31mnever\\u001b[0m gives up on anyone\"}}\n"
        )
    });
    place.write("personas.jsonl", personas.concat());
    place.write("pilot.yaml", format!("{text}{rates}personas_file: personas.jsonl\n"));
    place.ok("run pilot.yaml --quiet --no-outputs");
    place
}

/// The participants of the run, as `participants.json` has them.
fn participants(place: &Place) -> Vec<Value> {
    place.ok("outputs latest --to out");
    let file: Value = serde_json::from_str(&place.read("out/participants.json")).unwrap();
    file["participants"].as_array().unwrap().clone()
}

fn id<'a>(participants: &'a [Value], status: &str, condition: Option<&str>) -> &'a str {
    let found = participants.iter().find(|p| {
        p["status"] == status && condition.is_none_or(|condition| p["condition"] == condition)
    });
    found.expect("there is one")["participant_id"].as_str().unwrap()
}

#[test]
fn a_participants_whole_story() {
    let place = place();
    let participants = participants(&place);
    let whole = id(&participants, "complete", Some("acp"));
    let failed = id(&participants, "failed", None);
    let shown = place.session(&[&format!("show latest {whole}"), &format!("show latest {failed}")]);
    assert!(!shown.contains('\u{1b}'), "what a persona says does not reach the terminal as it is");
    assert_said!("stories_whole", shown);
}

#[test]
fn a_story_names_what_the_log_holds() {
    let place = place();
    let mut exchanges = 0;
    for participant in participants(&place) {
        let id = participant["participant_id"].as_str().unwrap();
        let (shown, code) = place.json(&format!("show latest {id}"));
        assert_eq!((code, &shown["simulated"]), (0, &true.into()));
        let story = &shown["story"];
        assert_eq!(story["participant_id"], id);
        assert_eq!(story["status"], participant["status"]);
        let chapters = story["story"].as_array().unwrap();
        let lines = chapters.iter().flat_map(|chapter| chapter["lines"].as_array().unwrap());
        let said: Vec<&Value> = lines.clone().map(|line| &line["text"]).collect();
        for key in ["base_persona", "initial_choice", "opposition_view", "individual_summary"] {
            let value = &participant[key];
            assert!(value.is_null() || said.contains(&value), "{id} {key}");
        }
        for line in lines {
            for asked in line["exchanges"].as_array().into_iter().flatten() {
                is_in_the_log(&place, asked);
                exchanges += 1;
            }
        }
    }
    assert!(exchanges > 50, "{exchanges}");
}

fn is_in_the_log(place: &Place, asked: &Value) {
    let event = |key: &str| place.json(&format!("show latest {}", asked[key])).0;
    let question = event("question");
    for (key, of_event) in [("call", "call"), ("sample", "sample"), ("prompt_hash", "prompt")] {
        assert_eq!(asked[key], question[of_event], "{asked}");
    }
    if !asked["answer"].is_null() {
        let answer = event("answer");
        assert_eq!(answer["cause"], asked["question"], "{asked}");
        let text = &asked["text"];
        assert!(text.is_null() || *text == answer["content"], "{asked}");
    }
    if !asked["decision"].is_null() {
        assert_eq!(event("decision")["cause"], asked["answer"], "{asked}");
    }
}

#[test]
fn whoever_took_no_part_has_no_story() {
    let place = place();
    assert_said!(
        "stories_nobody",
        place.session(&["show latest p_0099", "show latest p_9", "show latest p_0001x"])
    );
    // A call is shown as before.
    let shown = place.ok("show latest initial_vote/p_0001");
    assert!(shown.contains("call initial_vote/p_0001  sample 0"), "{shown}");
}
