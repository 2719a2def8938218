//! The stated rules, one by one, on answers of our own.

use retold::parse::{ParsedAnswer, Parser};
use retold_adventure::parse::{Importance, Narrative, character_parser, narrative_parser};

fn parse(text: &str) -> ParsedAnswer<Narrative> {
    narrative_parser().unwrap().parse(text)
}

fn narrative(text: &str) -> Narrative {
    parse(text).value
}

#[test]
fn markers_inside_a_paragraph() {
    let found = narrative("You ride on. LOCATION: Dry Creek. The sun sets.\nWolves howl.");
    assert_eq!(found.location.as_deref(), Some("Dry Creek"));
    assert_eq!(found.narrative, "You ride on. The sun sets.\nWolves howl.");
    let found = narrative("You reach town. LOCATION: St. Anna Mission. Bells ring.");
    assert_eq!(found.location.as_deref(), Some("St. Anna Mission"));
    let found = narrative("You pocket it. ACQUIRED_ITEMS: Silver Watch, Two Bullets");
    assert_eq!(found.acquired_items, ["Silver Watch", "Two Bullets"]);
    let found = narrative("Joe ACQUIRED_ITEMS: REMOVED_ITEMS: ducks behind a barrel.");
    assert_eq!(found.narrative, "Joe ducks behind a barrel.");
    assert!(found.removed_items.is_empty());
}

#[test]
fn lists_in_every_form() {
    for list in [
        "[Rope, Lantern]",
        "[\"Rope\", \"Lantern\"]",
        "Rope, Lantern",
        "['Rope', 'Lantern',]",
        "[\n  \"Rope\",\n  \"Lantern\"\n]",
        "[{\"name\": \"Rope\"}, {\"name\": \"Lantern\"}]",
        "[Rope, Lantern",
    ] {
        let found =
            narrative(&format!("Good.\nACQUIRED_ITEMS: {list}\nREMOVED_ITEMS: none\nOn you go."));
        assert_eq!(found.acquired_items, ["Rope", "Lantern"], "{list}");
        assert!(found.removed_items.is_empty());
        assert_eq!(found.narrative, "Good.\nOn you go.", "{list}");
    }
}

#[test]
fn missing_markers_have_defaults() {
    let found = parse("The wind howls.");
    assert_eq!(found.method, "plain_text");
    let expected = Narrative { narrative: "The wind howls.".to_owned(), ..Narrative::default() };
    assert_eq!(found.value, expected);
}

#[test]
fn suggested_actions_survive_malformed_json() {
    let text = "Go.\nSUGGESTED_ACTIONS: [{'text': 'Run', type: basic}, {\"text\": \"Shoot\", \"type\": \
                \"combat\"";
    let found = parse(text);
    let texts: Vec<&str> = found.value.suggested_actions.iter().map(|a| a.text.as_str()).collect();
    assert_eq!(texts, ["Run", "Shoot"]);
    assert!(!found.warnings.is_empty());
    let bullets = narrative("Go.\nSUGGESTED_ACTIONS:\n- Run away\n- Hide\n\nNight falls.");
    assert_eq!(bullets.suggested_actions.len(), 2);
    assert_eq!(bullets.narrative, "Go.\n\nNight falls.");
}

const OPTIONS: &str =
    r#""options": [{"text": "Stay", "impact": "Calm"}, {"text": "Go", "impact": "Risk"}]"#;

#[test]
fn a_decision_is_found_in_mixed_text() {
    for text in [
        format!("Dusk.\n\n\"playerDecision\": {{\"prompt\": \"Well?\", {OPTIONS}}}"),
        format!(
            "Dusk.\n```json\n{{\"playerDecision\": {{\"prompt\": \"Well?\", {OPTIONS}}}}}\n```"
        ),
        format!("Dusk.\n{{ \"playerDecision\": {{\"prompt\": \"Well?\", {OPTIONS}}} }}"),
        format!("Dusk.\nplayerDecision: {{prompt: \"Well?\", {OPTIONS},}}"),
        format!(
            "{{\"narrative\": \"Dusk.\", \"playerDecision\": {{\"prompt\": \"Well?\", {OPTIONS}}}}}"
        ),
        format!(
            "Dusk.\n\"playerDecision\": {{\"prompt\": \"Well?\", \"meta\": {{\"a\": {{}}}}, {OPTIONS}}}"
        ),
    ] {
        let found = narrative(&text);
        assert_eq!(found.narrative, "Dusk.", "{text}");
        let decision = found.player_decision.expect(&text);
        assert_eq!((decision.prompt.as_str(), decision.options.len()), ("Well?", 2));
        assert_eq!(decision.importance, Importance::Moderate);
    }
}

#[test]
fn a_decision_without_a_choice_is_rejected_with_a_reason() {
    let one = "Dusk.\n\"playerDecision\": {\"prompt\": \"Well?\", \"options\": [{\"text\": \"Stay\", \
               \"impact\": \"Calm\"}, {\"text\": \"Go\"}]}";
    let found = parse(one);
    assert_eq!(found.value.player_decision, None);
    let reason =
        "the decision has 1 options with text and impact, of 2 given: at least 2 are needed";
    assert_eq!(found.value.rejected_decision.as_deref(), Some(reason));
    assert_eq!(found.warnings, [reason]);
    assert_eq!(found.value.narrative, "Dusk.");
    let nothing = parse("\"playerDecision\": {}").value.rejected_decision;
    assert_eq!(nothing.as_deref(), Some("the decision has no prompt"));
    let word = narrative("The playerDecision is yours.");
    assert_eq!(word.narrative, "The playerDecision is yours.");
}

#[test]
fn dialogue_is_listed_and_stays_in_the_story() {
    let text =
        "The door opens.\nMarshal Boone: \"Hands up!\"\nLOCATION: Jail\n**Old Pete:** coughs.";
    let found = narrative(text);
    let said: Vec<(&str, &str)> =
        found.dialogue.iter().map(|d| (d.speaker.as_str(), d.text.as_str())).collect();
    assert_eq!(said, [("Marshal Boone", "Hands up!"), ("Old Pete", "coughs.")]);
    assert!(found.narrative.contains("Marshal Boone: \"Hands up!\""));
}

#[test]
fn character_repairs_are_warnings() {
    let parser = character_parser().unwrap();
    let text = "Here he is:\n```json\n{\"name\": \"Ike\", \"attributes\": {\"speed\": 25, \
                \"gun_accuracy\": \"12\", \"throwingAccuracy\": 7.6, \"strength\": 14, \"bravery\": \
                \"high\", \"experience\": -1}}\n```";
    let parsed = parser.parse(text);
    let got = parsed.value.attributes;
    assert_eq!(
        (got.speed, got.gun_accuracy, got.throwing_accuracy, got.base_strength),
        (20, 12, 8, 14)
    );
    assert_eq!((got.bravery, got.experience), (10, 0));
    assert_eq!(
        parsed.warnings,
        [
            "speed is 25, not from 0 to 20: 20",
            "gunAccuracy stood in another place or spelling",
            "gunAccuracy was written as text",
            "throwingAccuracy is 7.6, not a whole number: 8",
            "baseStrength is missing: 14",
            "bravery is not a number: 10",
            "experience is -1, not from 0 to 20: 0",
        ]
    );
    let unnamed = parser.parse("I would rather not.");
    assert_eq!((unnamed.method, unnamed.value.name.as_str()), ("default", "Stranger"));
    let cut = parser.parse("{'name': 'Ann', 'attributes': {'speed': 4");
    assert_eq!((cut.method, cut.value.attributes.speed), ("repaired_json_object", 4));
}
