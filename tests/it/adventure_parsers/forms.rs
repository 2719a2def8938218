//! Values in forms that models fall into: JSON where names are expected, bars, unclosed quotes.

use retold::parse::{ParsedAnswer, Parser};
use retold_adventure::parse::{ActionKind, Narrative, narrative_parser};

use ActionKind::{Basic, Combat, Interaction};

fn parse(text: &str) -> ParsedAnswer<Narrative> {
    narrative_parser().unwrap().parse(text)
}

#[test]
fn the_key_of_a_decision_is_known_in_any_spelling() {
    let options = "\"options\": [{\"text\": \"Stay\", \"impact\": \"a\"}, {\"text\": \"Go\", \"impact\": \"b\"}]";
    for key in ["PLAYER_DECISION", "player_decision", "Player Decision", "PLAYER\\_DECISION"] {
        for dressed in [key.to_owned(), format!("**{key}**"), format!("### {key}")] {
            let found = parse(&format!("On.\n{dressed}: {{\"prompt\": \"Well?\", {options}}}"));
            assert_eq!(found.method, "markers_and_decision", "{dressed}");
            assert_eq!(found.value.player_decision.unwrap().options.len(), 2, "{dressed}");
            assert_eq!(found.value.narrative, "On.", "{dressed}");
        }
    }
    let wrapped = format!(
        "On.\nPLAYER_DECISION: {{\"player_decision\": {{\"prompt\": \"Well?\", {options}}}}}"
    );
    assert!(parse(&wrapped).value.player_decision.is_some());
    let story = "PLAYER DECISION: what now? The player decision is yours.";
    assert_eq!(parse(story).value.narrative, story);
}

#[test]
fn types_may_follow_the_quotes_in_an_array() {
    for text in [
        "Go.\nSUGGESTED_ACTIONS: [\"Walk, slowly\" (basic), \"Draw\" (combat), \"Talk\" (interaction)]",
        "Go.\nSUGGESTED_ACTIONS: [\n  \"Walk, slowly\",\n  \"Draw\" (combat),\n  \"Talk\" (interaction)\n]",
    ] {
        let found = parse(text);
        let actions: Vec<_> =
            found.value.suggested_actions.iter().map(|a| (a.text.as_str(), a.kind)).collect();
        let expected = [("Walk, slowly", Basic), ("Draw", Combat), ("Talk", Interaction)];
        assert_eq!(actions, expected, "{text}");
        assert_eq!((found.value.narrative.as_str(), found.warnings), ("Go.", vec![]), "{text}");
    }
    let found = parse("Go.\nSUGGESTED_ACTIONS: [\"Hide (in a barrel)\", \"Run\"]").value;
    assert_eq!(found.suggested_actions.len(), 2);
    assert_eq!(found.suggested_actions[0].text, "Hide (in a barrel)");
}

#[test]
fn bars_separate_actions() {
    for text in [
        "Go.\nSUGGESTED_ACTIONS: run | hide, then wait | draw (combat)",
        "Go.\nSUGGESTED_ACTIONS: | run | hide, then wait | draw (combat) |",
        "Go.\nSUGGESTED_ACTIONS: [run | hide, then wait | draw (combat)]",
    ] {
        let found = parse(text);
        let actions: Vec<_> =
            found.value.suggested_actions.iter().map(|a| (a.text.as_str(), a.kind)).collect();
        let expected = [("run", Basic), ("hide, then wait", Basic), ("draw", Combat)];
        assert_eq!(actions, expected, "{text}");
        assert_eq!((found.value.narrative.as_str(), found.warnings), ("Go.", vec![]), "{text}");
    }
    let found = parse("Go.\nACQUIRED_ITEMS: Rope | Map | REMOVED_ITEMS: Hat").value;
    assert_eq!(
        (found.acquired_items, found.removed_items),
        (vec!["Rope".to_owned(), "Map".to_owned()], vec!["Hat".to_owned()],)
    );
}

#[test]
fn names_are_read_from_json() {
    for (text, items) in [
        ("{\"rope\": 2, \"old hat\": true, \"gun\": 0, \"map\": null}", vec!["old hat", "rope"]),
        ("[{\"rope\": 2}, {\"name\": \"Map\", \"count\": 1}, \"Hat\"]", vec!["rope", "Map", "Hat"]),
        ("{\"name\": \"Map\", \"count\": 1}", vec!["Map"]),
        ("```json\n{\"rope\": 2}\n```", vec!["rope"]),
        ("{}", vec![]),
    ] {
        let found = parse(&format!("On.\nACQUIRED_ITEMS: {text}\nREMOVED_ITEMS: Gun\nYou go."));
        let mut got = found.value.acquired_items;
        got.sort_by_key(|item| items.iter().position(|i| i == item));
        assert_eq!(got, items, "{text}");
        assert_eq!(found.value.removed_items, ["Gun"], "{text}");
        assert_eq!(found.value.narrative, "On.\nYou go.", "{text}");
        assert!(found.warnings.is_empty(), "{text}");
    }
    for (text, opponent) in [
        ("[\"Sal\",\"Joe\"]", Some("Sal and Joe")),
        ("[\"Sal\"]", Some("Sal")),
        ("{\"name\": \"Sal\", \"health\": 3}", Some("Sal")),
        ("[{\"name\": \"Sal\"}, {\"opponent\": \"Joe\"}]", Some("Sal and Joe")),
        ("[\"none\"]", None),
    ] {
        let found = parse(&format!("On.\nCOMBAT: {text}\nYou go.")).value;
        assert_eq!(found.opponent.as_deref(), opponent, "{text}");
        assert_eq!(found.narrative, "On.\nYou go.", "{text}");
        let found = parse(&format!("{{\"narrative\": \"On.\", \"opponent\": {text}}}")).value;
        assert_eq!(found.opponent.as_deref(), opponent, "{text}");
    }
    let found = parse("LOCATION: {\"town\": \"Boot Hill\"}\nOn.").value;
    assert_eq!((found.location.as_deref(), found.narrative.as_str()), (Some("Boot Hill"), "On."));
    let found = parse("LOCATION: [\"Saloon\", \"Boot Hill\"]\nOn.").value;
    assert_eq!(found.location.as_deref(), Some("Saloon, Boot Hill"));
    let found = parse("{\"narrative\": \"On.\", \"acquiredItems\": {\"rope\": 2}}").value;
    assert_eq!(found.acquired_items, ["rope"]);
}

#[test]
fn an_opponent_whom_its_sentence_needs_stays() {
    for (text, story) in [
        ("You face COMBAT: Black Bart!", "You face Black Bart!"),
        ("You must fight COMBAT: Joe. It rains.", "You must fight Joe. It rains."),
        ("You turn to face COMBAT: [\"Sal\", \"Joe\"]\nOn.", "You turn to face Sal and Joe\nOn."),
        ("You draw. COMBAT: Joe", "You draw."),
    ] {
        let found = parse(text).value;
        assert_eq!(found.narrative, story);
        assert!(found.opponent.is_some(), "{text}");
    }
}

#[test]
fn a_quote_left_open_takes_no_story_with_it() {
    for (list, items) in [
        ("[\"Rope\", \"Knife]", ["Rope", "Knife"]),
        ("[\"Rope\", \"Knife", ["Rope", "Knife"]),
        ("[\n  \"Rope\",\n  \"Knife\n]", ["Rope", "Knife"]),
    ] {
        let found = parse(&format!("On.\nACQUIRED_ITEMS: {list}\nYou say \"go\" and ride."));
        assert_eq!(found.value.acquired_items, items, "{list}");
        assert_eq!(found.value.narrative, "On.\nYou say \"go\" and ride.", "{list}");
    }
}
