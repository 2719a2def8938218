//! The prompts as they are sent in a run, word for word.

use std::collections::BTreeMap;

use retold::event::Event;
use retold::model::simulated::Misbehaviour;

use super::runs::{model, recorded, small};
use crate::support::logs::facts;
use crate::support::trial::Trial;

/// The kind of a call: that of `clarification/p_0007/2/moderator` is `clarification/N/2/moderator`.
fn kind(call: &str) -> String {
    let is_id = |part: &&str| part.starts_with("p_") || part.contains('_') && part.len() == 3;
    let parts = call.split('/').map(|part| if is_id(&part) { "N" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_prompt_of_a_run() {
    // With the LLM judge, so that its prompt is included.
    let experiment = small(&["participants_per_condition=2", "opposition_method=llm_judge"]);
    let trial = Trial::in_memory(model(Misbehaviour::default()));
    recorded(&trial, experiment.as_ref());
    // For each kind of call, the one with the first id, because answers arrive in any order.
    let mut first: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut reader = trial.log.reader().unwrap();
    for event in facts(&trial.log, trial.run) {
        let Event::RequestSent(sent) = event else { continue };
        let call = sent.call.to_string();
        if call.starts_with("clarification/") && !call.contains("/1/")
            || call.starts_with("adversarial/") && !call.contains("/1/")
            || call.contains("embedding")
        {
            continue;
        }
        let request = reader.request(sent.prompt).unwrap().unwrap();
        let said = request.messages().into_iter();
        let said: String = said.map(|(role, text)| format!("[{role}]\n{text}\n")).collect();
        // Participants who read a summary vote with another prompt than those who were challenged.
        let challenged = said.contains("You just had the following dialogue");
        let kind = if challenged { "challenged".to_owned() } else { kind(&call) };
        let place = first.entry(kind).or_insert_with(|| ("~".to_owned(), String::new()));
        if call < place.0 {
            *place = (call, said);
        }
    }
    let kinds: Vec<&String> = first.keys().collect();
    assert_eq!(kinds.len(), 12, "{kinds:?}");
    let shown = first.values().map(|(call, text)| format!("=== {call}\n{text}"));
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
}
