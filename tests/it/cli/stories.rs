//! `retold show RUN p_0007`: the story of a participant, compared with the contents of the log.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::cli::{Place, assert_said};
use crate::support::csv;

/// Eight participants, some of whom fail; one call at a time, so that the log is always the same.
fn place() -> Place {
    let place = Place::new();
    let config = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
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
    place.ok("export latest out --as outputs");
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
fn a_person_who_took_no_part_has_no_story() {
    let place = place();
    assert_said!(
        "stories_nobody",
        place.session(&["show latest p_0099", "show latest p_9", "show latest p_0001x"])
    );
    // A call is shown as before.
    let shown = place.ok("show latest initial_vote/p_0001");
    assert!(shown.contains("call initial_vote/p_0001  sample 0"), "{shown}");
}

/// One call at a time and some failures, so that the log is always the same.
const TROUBLE: &str =
    "--quiet --no-outputs --set limits.concurrency=1 --set model.rates.malformed=0.3";

/// All lines of a story; asserts that each of their exchanges is in the log.
fn lines<'a>(place: &Place, shown: &'a Value) -> Vec<&'a Value> {
    let chapters = shown["story"]["story"].as_array().unwrap();
    let lines: Vec<_> = chapters.iter().flat_map(|c| c["lines"].as_array().unwrap()).collect();
    for line in &lines {
        for asked in line["exchanges"].as_array().into_iter().flatten() {
            is_in_the_log(place, asked);
        }
    }
    lines
}

fn config(name: &str) -> String {
    Path::new(env!("RETOLD_ROOT")).join("config").join(name).display().to_string()
}

#[test]
fn a_players_whole_story() {
    let place = Place::new();
    place.ok(&format!("run {} {TROUBLE}", config("public_goods_small.yaml")));
    assert_said!("stories_player", place.session(&["show latest game1/agent_1"]));
    let (by_number, code) = place.json("show latest agent_1");
    assert_eq!((code, &by_number["story"]["avatar_name"]), (0, &"TURTLE".into()));
    assert_eq!(place.json("show latest game1/TURTLE").0["story"], by_number["story"]);
    // The earnings equal those in the run's table, and every counted answer is in the story.
    place.ok("export latest out --as outputs");
    let told = lines(&place, &by_number);
    let said = |label: &str| -> Vec<&str> {
        let of_label = told.iter().filter(|line| line["label"] == label);
        of_label.map(|line| line["text"].as_str().unwrap()).collect()
    };
    let rows = csv::rows(&place.path("out/game_log.csv"));
    let own: Vec<_> = rows.iter().filter(|row| row["agent_id"] == "agent_1").collect();
    let numbers = |text: Vec<&str>| -> Vec<f64> {
        text.iter().map(|t| t.split(' ').next().unwrap().parse().unwrap()).collect()
    };
    let column =
        |name: &str| -> Vec<f64> { own.iter().map(|r| r[name].parse().unwrap()).collect() };
    assert_eq!(numbers(said("contributed")), column("contribution"));
    assert_eq!(numbers(said("got")), column("round_payoff"));
    for thought in csv::rows(&place.path("out/reasoning.csv")) {
        if thought["agent_id"] == "agent_1" {
            assert!(said("thought").contains(&thought["reasoning"].as_str()), "{thought:?}");
        }
    }
    assert_said!(
        "stories_no_player",
        place.session(&[
            "show latest game1/agent_99",
            "show latest game2/agent_0",
            "show latest agent_99",
            "show latest game1/PENGUINO",
            "show latest somebody",
        ])
    );
}

#[test]
fn an_agents_whole_story() {
    let place = Place::new();
    let config = config("society_small.yaml");
    place.ok(&format!("run {config} {TROUBLE} --set rules.start.food=1 --set rules.pool.food=0"));
    let fallen = (1..=10)
        .find(|n| place.json(&format!("show latest agent/{n}")).0["story"]["days_dormant"] != 0);
    let fallen = fallen.expect("with so little food somebody falls dormant");
    assert_said!("stories_agent", place.session(&[&format!("show latest agent/{fallen}")]));
    let (shown, _) = place.json(&format!("show latest agent/{fallen}"));
    let told = lines(&place, &shown);
    place.ok("export latest out --as outputs");
    let agents = csv::rows(&place.path("out/agents.csv"));
    let row = agents.iter().find(|row| row["agent_id"] == fallen.to_string()).unwrap();
    let has = told.iter().rfind(|line| line["label"] == "has").unwrap()["text"].as_str().unwrap();
    let amounts: Vec<f64> = has.split(' ').step_by(2).map(|n| n.parse().unwrap()).collect();
    let expected = ["food", "energy", "materials"].map(|r| row[r].parse::<f64>().unwrap());
    assert_eq!(amounts, expected);
    // The agent was asked on every day except those on which it was dormant.
    let asked = told.iter().filter_map(|line| line["exchanges"].as_array()).flatten();
    let answers: BTreeSet<u64> = asked.map(|asked| asked["answer"].as_u64().unwrap()).collect();
    let days_dormant: usize = row["days_dormant"].parse().unwrap();
    assert_eq!(answers.len() + days_dormant, 6, "{shown}");
    assert_said!(
        "stories_no_agent",
        place.session(&["show latest agent/16", "show latest agent/x"])
    );
}

#[test]
fn a_person_of_a_program_is_found_by_a_label() {
    let place = Place::new();
    let line = |call: &str, person: &str, answer: &str| {
        let request = json!({"model": "m", "messages": [{"role": "user", "content": format!("{person}, shall we build it?")}]});
        let label = json!({"participant": person, "phase": call.split('/').next().unwrap()});
        json!({"call": call, "request": request, "response": {"content": answer}, "label": label})
            .to_string()
    };
    let lines = [
        line("before/1", "ada", "Vote: no"),
        line("before/2", "bob", "Vote: \u{1b}[31mno"),
        line("after/1", "ada", "Vote: yes"),
    ];
    place.write("answers.jsonl", lines.join("\n"));
    place.write(
        "vote.yaml",
        "decisions:\n  vote:\n    - strategies:\n        - {regex: '(?im)^vote:(.*)', one_of: [yes, no]}\n",
    );
    place.ok("import answers.jsonl");
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    place.ok(&format!("check {run} --accept --parsers vote.yaml"));
    let shown = place.ok(&format!("show {run} ada"));
    let [before, after] = ["before/1  seq 2", "after/1  seq"].map(|call| shown.find(call).unwrap());
    assert!(shown.contains("participant ada: 2 calls, in the order") && before < after, "{shown}");
    assert!(!shown.contains("bob"), "{shown}");
    for said in ["  user:\n    ada, shall we build it?\n", "  answer:\n    Vote: yes\n"] {
        assert!(shown.contains(said), "{shown}");
    }
    assert_eq!(shown.matches("  decided: vote = ").count(), 2, "{shown}");
    let (json, code) = place.json(&format!("show {run} bob"));
    assert_eq!((code, &json["label"], &json["value"]), (0, &"participant".into(), &"bob".into()));
    assert_eq!(json["calls"][0]["answer"], "Vote: \u{1b}[31mno", "{json}");
    assert!(!place.ok(&format!("show {run} bob")).contains('\u{1b}'));
    let said = place.run(&format!("show {run} eve"));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("hint: its calls are of ada, bob"), "{}", said.err);
}
