//! JSON in an answer: a whole answer with words around it, and decisions in every form.

use retold::parse::{ParsedAnswer, Parser};
use retold_adventure::parse::{Importance, Narrative, character_parser, narrative_parser};

fn parse(text: &str) -> ParsedAnswer<Narrative> {
    narrative_parser().unwrap().parse(text)
}

const OPTIONS: &str =
    "\"options\": [{\"text\": \"Stay\", \"impact\": \"a\"}, {\"text\": \"Go\", \"impact\": \"b\"}]";

#[test]
fn an_object_with_words_around_it_is_the_answer() {
    let object =
        "{\"narrative\": \"You ride.\", \"location\": \"Mine\", \"acquiredItems\": [\"Hat\"]}";
    let left_out = "there are words around the JSON object: left out";
    for (text, warnings) in [
        (object.to_owned(), vec![]),
        (format!("[{object}]"), vec![]),
        (format!("Here it is:\n\n```json\n{object}\n```"), vec![left_out]),
        (format!("```json\n{object}\n```\nI hope this helps!"), vec![left_out]),
        (format!("Sure.\n{object}\nWhat now?"), vec![left_out]),
    ] {
        let found = parse(&text);
        assert_eq!(
            (found.method, found.warnings),
            ("json_object", warnings.iter().map(|w| w.to_string()).collect()),
            "{text}"
        );
        assert_eq!(found.value.narrative, "You ride.", "{text}");
        assert_eq!(found.value.location.as_deref(), Some("Mine"), "{text}");
        assert_eq!(found.value.acquired_items, ["Hat"], "{text}");
    }
    // If the object has no story, the words around it are the story.
    let found =
        parse("You ride.\n\n```json\n{\"location\": \"Mine\", \"opponent\": \"none\"}\n```\n\nOn.");
    assert_eq!((found.value.narrative.as_str(), found.warnings), ("You ride.\n\nOn.", vec![]));
    assert_eq!((found.value.location.as_deref(), found.value.opponent), (Some("Mine"), None));
    // If both have a story, the markers in the words around the object count.
    let found = parse(&format!("You sit.\nLOCATION: Mill\n{object}"));
    assert_eq!((found.method, found.value.location.as_deref()), ("markers", Some("Mill")));
}

#[test]
fn keys_in_another_spelling_are_read() {
    for text in [
        "{\"narrative\": \"On.\", \"LOCATION\": \"Mine\", \"ACQUIRED_ITEMS\": [\"Hat\", \"Rope\"], \
         \"SUGGESTED_ACTIONS\": [\"Go\"], \"COMBAT\": \"Sal\"}",
        "{\"Narrative\": \"On.\", \"location\": \"Mine\", \"acquired_items\": \"Hat, Rope\", \
         \"suggested_actions\": [\"Go\"], \"combat\": \"Sal\"}",
    ] {
        let found = parse(text).value;
        assert_eq!(found.narrative, "On.");
        assert_eq!(
            (found.location.as_deref(), found.opponent.as_deref()),
            (Some("Mine"), Some("Sal"))
        );
        assert_eq!(found.acquired_items, ["Hat", "Rope"]);
        assert_eq!(found.suggested_actions.len(), 1);
    }
}

#[test]
fn decisions_in_every_dress() {
    let decision = format!("{{\"prompt\": \"Well?\", {OPTIONS}, \"importance\": \" Critical\"}}");
    for text in [
        format!("He says \"go\"\nplayerDecision: {decision}"),
        format!("He says \"go\"\n**playerDecision:**\n```json\n{decision}\n```"),
        format!("He says \"go\"\n\n### playerDecision:\n{decision}"),
        format!("He says \"go\"\n`playerDecision`: {decision}"),
        format!("```\nLOCATION: Mine\n```\n\"playerDecision\": {decision}\nHe says \"go\""),
        format!("He says \"go\"\n```json\n{{\"playerDecision\": {decision}}}\n```"),
    ] {
        let found = parse(&text);
        let decision = found.value.player_decision.unwrap();
        assert_eq!(
            (decision.options.len(), decision.importance),
            (2, Importance::Critical),
            "{text}"
        );
        assert_eq!(found.value.narrative.trim(), "He says \"go\"", "{text}");
        assert!(found.warnings.is_empty(), "{text}");
    }
}

#[test]
fn missing_parts_of_a_decision_are_reported() {
    let found = parse(&format!(
        "\"playerDecision\": {{\"prompt\": \"Well?\", {}, {{\"text\": \"Stay.\", \"impact\": \"c\"}}, {{\"text\": \
         \"Hide\"}}], \"importance\": \"minor|critical\"}}",
        OPTIONS.trim_end_matches(']'),
    ));
    let left_out = "of 4 options 2 were left out: like another, or without text or impact";
    let importance = "\"minor|critical\" is no importance: moderate";
    assert_eq!(found.warnings, [left_out, importance]);
    let decision = found.value.player_decision.unwrap();
    assert_eq!((decision.options.len(), decision.importance), (2, Importance::Moderate));
}

#[test]
fn a_missing_decision_is_not_rejected() {
    for text in ["\"playerDecision\": null,\nOn.", "On.\n```\n{\"playerDecision\": null}\n```"] {
        let mut found = parse(text);
        found.value.narrative = found.value.narrative.trim().to_owned();
        assert_eq!(found.value, Narrative { narrative: "On.".to_owned(), ..Narrative::default() });
        assert!(found.warnings.is_empty(), "{text}");
    }
    let story = "The playerDecision: nullified, says the judge.";
    assert_eq!(parse(story).value.narrative, story);
}

#[test]
fn an_answer_that_ends_while_thinking_has_no_story() {
    for text in ["<think>Now LOCATION: Mine", "<think>\nNow LOCATION: Mine\n</think>\n"] {
        let found = parse(text);
        assert_eq!(found.value, Narrative::default());
        assert_eq!(found.reasoning.as_deref(), Some("Now LOCATION: Mine"));
    }
    let found = character_parser().unwrap().parse("<think>{\"name\": \"Sal\", \"speed\": 3");
    assert_eq!((found.method, found.value.name.as_str()), ("default", "Stranger"));
}

#[test]
fn a_character_may_be_wrapped_in_any_key() {
    for text in [
        "{\"npc\": {\"name\": \"Sal\", \"attributes\": {\"speed\": 3}}}",
        "{\"character\": {\"name\": \"Sal\", \"attributes\": {\"speed\": 3}}}",
    ] {
        let found = character_parser().unwrap().parse(text);
        assert_eq!((found.value.name.as_str(), found.value.attributes.speed), ("Sal", 3));
    }
    let found = character_parser().unwrap().parse("{\"attributes\": {\"speed\": 3}}");
    assert!(found.warnings.iter().all(|warning| !warning.contains("another place")));
}
