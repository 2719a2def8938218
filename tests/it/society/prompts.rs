//! What agents are shown.

use retold::model::simulated::Misbehaviour;
use retold::run::{Mode, RunRecord};
use retold_society::prompts::{NAMES, built_in};

use super::support::{model, society};
use crate::support::block_on;
use crate::support::trial::Trial;

/// The messages of a call, with a line before each.
fn asked(trial: &Trial, call: &str) -> String {
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let path = retold::id::CallPath::new(call).unwrap();
    let prompt = record.samples(&path).unwrap()[&0].prompt;
    drop(record);
    let request = reader.request(prompt).unwrap().unwrap();
    let body = request.body();
    let parts = |content: &serde_json::Value| match content.as_str() {
        Some(text) => text.to_owned(),
        None => content.as_array().unwrap().iter().map(|p| p["text"].as_str().unwrap()).collect(),
    };
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|m| format!("--- {}\n{}\n", m["role"], parts(&m["content"]))).collect()
}

#[test]
fn the_first_day_shows_an_empty_world_and_a_later_one_what_happened() {
    let trial = Trial::in_memory(model(Misbehaviour { malformed: 0.2, ..Misbehaviour::default() }));
    let ended = block_on(trial.go(Mode::Record, society("society_small.yaml", &[]).as_ref()));
    assert!(ended.progress.exchanges > 80);
    insta::assert_snapshot!("first_day", asked(&trial, "day/1/agent/1"));
    // Without the instructions, which are the same.
    let later = asked(&trial, "day/6/agent/3");
    insta::assert_snapshot!("sixth_day", later.split_once("--- \"user\"").unwrap().1);
}

#[test]
fn one_text_is_the_parts_joined() {
    let parts = Trial::in_memory(model(Misbehaviour::default()));
    block_on(parts.record(society("society_small.yaml", &["days=1"]).as_ref()));
    let one = Trial::in_memory(model(Misbehaviour::default()));
    let settings = ["days=1", "context.one_text=true"];
    block_on(one.record(society("society_small.yaml", &settings).as_ref()));
    assert_eq!(asked(&parts, "day/1/agent/2"), asked(&one, "day/1/agent/2"));
}

/// An agent's prompt names the needs that the rules take from it.
#[test]
fn the_prompt_names_the_needs_of_the_settings() {
    for (needs, words) in [
        ("{food: 1, energy: 1, materials: 0}", "must consume 1 food and 1 energy per day"),
        ("{food: 2, energy: 0.5, materials: 3}", "2 food, 0.5 energy and 3 materials per day"),
        ("{food: 0, energy: 4, materials: 0}", "must consume 4 energy per day"),
        ("{food: 0, energy: 0, materials: 0}", "must consume nothing per day"),
    ] {
        let trial = Trial::in_memory(model(Misbehaviour::default()));
        let settings = [String::from("days=1"), format!("rules.needs={needs}")];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        block_on(trial.record(society("society_small.yaml", &settings).as_ref()));
        let asked = asked(&trial, "day/1/agent/1");
        assert!(asked.contains(words), "{asked}");
    }
}

/// If the document is next to the project: its sentences are in the templates, word for word.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_templates_are_the_documents_words() {
    let path = crate::support::shared_data("../sources/001_agent_society.md");
    let document = std::fs::read_to_string(path).unwrap();
    let plain = |text: &str| text.replace("{% raw %}", "").replace("{% endraw %}", "");
    let mut compared = 0;
    for prompt in built_in() {
        for line in plain(&prompt.text).lines() {
            // A line with a value in it has the document's words around the value.
            let words = line.split(['{', '}']).next().unwrap().trim_end();
            let words = words.strip_suffix("(Last").unwrap_or(words);
            assert!(document.contains(words), "{}: {line}", prompt.name);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} lines");
    assert_eq!(NAMES.len(), built_in().len());
}
