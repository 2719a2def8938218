//! Markers as models write them: inside sentences, in quotes, decorated, with lists in prose.

use proptest::prelude::*;
use retold::parse::{ParsedAnswer, Parser};
use retold_adventure::parse::{Narrative, clean_text, narrative_parser};

fn parse(text: &str) -> ParsedAnswer<Narrative> {
    narrative_parser().unwrap().parse(text)
}

/// A marker without a usable value stays in the story, and a warning says so.
fn unusable_warning(name: &str) -> String {
    format!("{name}: what follows reads like a sentence: it is no value, and stays in the story")
}

#[test]
fn lists_in_prose_end_with_their_sentence() {
    let cases: [(&str, &[&str], &str); 12] = [
        ("Rope and Knife. Then you go.", &["Rope", "Knife"], "You look. Then you go."),
        ("Canteen.", &["Canteen"], "You look."),
        ("rope, knife. You go.", &["rope", "knife"], "You look. You go."),
        (
            "Colt .45, Dr. Hale's bag and a rope. The door shuts.",
            &["Colt .45", "Dr. Hale's bag", "a rope"],
            "You look. The door shuts.",
        ),
        ("5 oz. gold, and a can of beans. Go.", &["5 oz. gold", "a can of beans"], "You look. Go."),
        ("Map (torn, old) and Rope. Go.", &["Map (torn, old)", "Rope"], "You look. Go."),
        ("His watch; US Army coat! Go.", &["His watch", "US Army coat"], "You look. Go."),
        ("Rope and you walk on. Go.", &["Rope"], "You look and you walk on. Go."),
        ("Rope, you also find peace. Go.", &["Rope"], "You look. You also find peace. Go."),
        ("[Rope and Knife]. Go.", &["Rope and Knife"], "You look. Go."),
        ("[\"Salt and Pepper\", \"Rope\"]. Go.", &["Salt and Pepper", "Rope"], "You look. Go."),
        ("none. Go.", &[], "You look. Go."),
    ];
    for (list, items, story) in cases {
        let found = parse(&format!("You look. ACQUIRED_ITEMS: {list}"));
        assert_eq!(found.value.acquired_items, items, "{list}");
        assert_eq!(found.value.narrative, story, "{list}");
        assert!(found.warnings.is_empty(), "{list}");
    }
}

#[test]
fn a_sentence_is_not_a_list() {
    for text in [
        "you found nothing here and walk on.",
        "You found nothing here.",
        "The door shuts. He runs.",
        "Is it a rope?",
        "Rope was here.",
        "Sal: \"Go!\"",
    ] {
        let found = parse(&format!("You look. REMOVED_ITEMS: {text}"));
        assert!(found.value.removed_items.is_empty(), "{text}");
        assert_eq!(found.value.narrative, format!("You look. {text}"));
        assert_eq!(found.warnings, [unusable_warning("REMOVED_ITEMS")], "{text}");
    }
    let alone = parse("ACQUIRED_ITEMS: you found nothing here and walk on.");
    assert_eq!(alone.value.narrative, "you found nothing here and walk on.");
    assert_eq!(alone.warnings, [unusable_warning("ACQUIRED_ITEMS")]);
    let actions = parse("Joe ducks. SUGGESTED_ACTIONS: you run.");
    assert_eq!(actions.warnings, [unusable_warning("SUGGESTED_ACTIONS")]);
    let cut = parse("You find ACQUIRED_ITEMS: rope, knife.");
    assert_eq!(cut.warnings, [unusable_warning("ACQUIRED_ITEMS")]);
    // A sentence with empty markers in the middle causes no warning.
    let fight =
        parse("Joe ACQUIRED_ITEMS: REMOVED_ITEMS: SUGGESTED_ACTIONS: ducks behind a barrel.");
    assert_eq!(
        (fight.value.narrative.as_str(), fight.warnings),
        ("Joe ducks behind a barrel.", vec![])
    );
    let place = parse("You go. LOCATION: you are lost. He nods.");
    assert_eq!((place.value.location, place.warnings), (None, vec![unusable_warning("LOCATION")]));
    assert_eq!(place.value.narrative, "You go. you are lost. He nods.");
}

#[test]
fn and_separates_items_only_in_prose_and_at_the_end_of_several() {
    let cases: [(&str, &[&str]); 7] = [
        ("Salt and Pepper shaker", &["Salt and Pepper shaker"]),
        ("Rope, Map and Knife", &["Rope", "Map", "Knife"]),
        ("Rope, Map, and Knife", &["Rope", "Map", "Knife"]),
        ("[Salt and Pepper, Rope, and Knife]", &["Salt and Pepper", "Rope", "Knife"]),
        ("[Rope, Salt and Pepper]", &["Rope", "Salt and Pepper"]),
        ("[\"Salt and Pepper\"]", &["Salt and Pepper"]),
        ("Rope, Bow (old and torn)", &["Rope", "Bow (old and torn)"]),
    ];
    for (list, items) in cases {
        let found = parse(&format!("Good.\nACQUIRED_ITEMS: {list}\nOn.")).value;
        assert_eq!(found.acquired_items, items, "{list}");
        assert_eq!(found.narrative, "Good.\nOn.");
    }
}

#[test]
fn parentheses_quotes_and_brackets_keep_items_together() {
    let cases: [(&str, &[&str]); 8] = [
        ("Map (torn, old), Rope", &["Map (torn, old)", "Rope"]),
        ("Map (torn, old, Rope", &["Map (torn", "old", "Rope"]),
        ("Map (torn (and old), wet), Rope", &["Map (torn (and old), wet)", "Rope"]),
        ("\"Deed, signed\", Rope", &["Deed, signed", "Rope"]),
        ("[Map [torn], Rope]", &["Map [torn]", "Rope"]),
        ("'Rope', Hat of \"Kid\" Dunn...", &["Rope", "Hat of \"Kid\" Dunn"]),
        ("\"Rope\" and \"Knife\"", &["Rope", "Knife"]),
        ("[Map (torn, old), Rope]", &["Map (torn, old)", "Rope"]),
    ];
    for (list, items) in cases {
        let found = parse(&format!("Good.\nACQUIRED_ITEMS: {list}\nOn.")).value;
        assert_eq!(found.acquired_items, items, "{list}");
        assert_eq!(found.narrative, "Good.\nOn.", "{list}");
    }
}

#[test]
fn names_in_prose_end_where_the_sentence_continues() {
    for (text, place, story) in [
        (
            "Boot Hill and the sheriff greets you. He nods.",
            "Boot Hill",
            "You ride and the sheriff greets you. He nods.",
        ),
        ("Room 4, Silver Gulch Saloon. On.", "Room 4, Silver Gulch Saloon", "You ride. On."),
        (
            "Black & White Saloon where men wait. On.",
            "Black & White Saloon",
            "You ride where men wait. On.",
        ),
        ("Valley of the Dead, and you shiver.", "Valley of the Dead", "You ride and you shiver."),
        ("Boot Hill, you dismount.", "Boot Hill", "You ride. You dismount."),
        ("Boot Hill looms ahead. On.", "Boot Hill", "You ride. Boot Hill looms ahead. On."),
        ("Boot Hill — the wind howls.", "Boot Hill", "You ride. The wind howls."),
        ("Abandoned mine. On.", "Abandoned mine", "You ride. On."),
        ("Silver Gulch saloon. On.", "Silver Gulch saloon", "You ride. On."),
        ("the old mill and the miller nods.", "the old mill", "You ride and the miller nods."),
        ("Saloon (upstairs, left) and wait.", "Saloon (upstairs, left)", "You ride and wait."),
        ("Mrs. Hale's Boarding House. On.", "Mrs. Hale's Boarding House", "You ride. On."),
        ("Tombstone lies before you. On.", "Tombstone", "You ride. Tombstone lies before you. On."),
        ("[Boot Hill] and rest.", "Boot Hill", "You ride and rest."),
        ("Hotel \"Grand\". On.", "Hotel \"Grand\"", "You ride. On."),
        ("\"Boot Hill\". On.", "Boot Hill", "You ride. On."),
    ] {
        let found = parse(&format!("You ride. LOCATION: {text}")).value;
        assert_eq!(found.location.as_deref(), Some(place), "{text}");
        assert_eq!(found.narrative, story, "{text}");
    }
    let found = parse("A shot. COMBAT: Black Bart draws. You duck.").value;
    assert_eq!(found.opponent.as_deref(), Some("Black Bart"));
    assert_eq!(found.narrative, "A shot. Black Bart draws. You duck.");
    // A value that is part of its sentence stays in the story.
    let found =
        parse("You ride to LOCATION: Boot Hill. He sells the ACQUIRED_ITEMS: Rope. On.").value;
    assert_eq!(found.narrative, "You ride to Boot Hill. He sells the Rope. On.");
    assert_eq!(found.acquired_items, ["Rope"]);
    // If a place is on a line of its own, it is the whole line, unless another sentence follows.
    let found = parse("Go.\nLOCATION: Dusty trail north of town\nOn.").value;
    assert_eq!(found.location.as_deref(), Some("Dusty trail north of town"));
    let found = parse("Go.\nLOCATION: Boot Hill, pop. 40\nOn.").value;
    assert_eq!(found.location.as_deref(), Some("Boot Hill, pop. 40"));
    let found = parse("Go.\nLOCATION: Boot Hill. The wind howls.").value;
    assert_eq!(found.location.as_deref(), Some("Boot Hill"));
    assert_eq!(found.narrative, "Go.\n The wind howls.");
}

#[test]
fn a_marker_in_the_middle_of_speech_is_speech() {
    for said in [
        "He says \"my LOCATION: unknown\" and laughs.",
        "He says “my LOCATION: unknown” and laughs.",
        "Sal: \"Your COMBAT: skills are poor.\"",
        "\"The **LOCATION:** of it, the LOCATION: of it!\" he says.",
    ] {
        assert_eq!(parse(said).value.narrative, said);
        assert_eq!(parse(said).method, "plain_text");
        let found = parse(&format!("{said}\nLOCATION: Mine")).value;
        assert_eq!((found.narrative.as_str(), found.location.as_deref()), (said, Some("Mine")));
    }
    for (text, story) in [
        ("\"LOCATION: Mine\"", ""),
        ("\"LOCATION\": \"Mine\",", ""),
        ("“LOCATION: Mine”", ""),
        ("\"LOCATION: Mine", ""),
        ("He says \"go. LOCATION: Mine", "He says \"go."),
        ("He says \"go.\nLOCATION: Mine\n\"Now!\"", "He says \"go.\n\"Now!\""),
        ("He says \"go. LOCATION: Mine. \"Now!\"", "He says \"go. \"Now!\""),
    ] {
        let found = parse(text).value;
        assert_eq!(found.location.as_deref(), Some("Mine"), "{text}");
        assert_eq!(found.narrative, story, "{text}");
    }
}

#[test]
fn markers_in_every_dress() {
    for text in [
        "You ride.\n**LOCATION:** Mine\n**COMBAT**: Sal",
        "You ride.\n**LOCATION: Mine** **COMBAT: Sal**",
        "You ride.\n- LOCATION: Mine\n* **COMBAT:** Sal",
        "You ride.\n1. LOCATION: Mine\n2) COMBAT: Sal",
        "You ride.\n### LOCATION: Mine\n### COMBAT: Sal.",
        "You ride.\n> LOCATION: Mine\n> COMBAT: Sal",
        "You ride.\n| LOCATION: Mine | COMBAT: Sal |",
        "You ride.\n`LOCATION: Mine`\n`COMBAT:` Sal",
        "You ride.\n[LOCATION: Mine]\n(COMBAT: Sal)",
        "You ride. (LOCATION: Mine) [COMBAT: Sal]",
        "You ride.\nLOCATION: \"Mine\".\nCOMBAT: Sal...",
        "You ride.\nLOCATION: \"Mine.\"\nCOMBAT: 'Sal'",
        "You ride. LOCATION: Mine, COMBAT: Sal",
        "You ride.\n\n```\nLOCATION: Mine\nCOMBAT: Sal\n```",
        "```\nYou ride.\n\nLOCATION: Mine\nCOMBAT: Sal\n```",
        "```text\nLOCATION: Mine\nCOMBAT: Sal\n```\nYou ride.",
        "You ride.\n\n---\nLOCATION: Mine\nCOMBAT: Sal",
        "You ride.\r\n\r\nLOCATION: Mine\r\nCOMBAT: Sal\r\n",
        "LOCATION: Mine\nYou ride.\nCOMBAT: Sal",
        "You ride.\nLOCATION:Mine\nACQUIRED_ITEMS:\nREMOVED_ITEMS:\nCOMBAT:Sal",
        "You ride.\nLOCATION: Old\nLOCATION: Mine\nCOMBAT: Sal\nCOMBAT:",
    ] {
        let found = parse(text).value;
        assert_eq!(found.location.as_deref(), Some("Mine"), "{text}");
        assert_eq!(found.opponent.as_deref(), Some("Sal"), "{text}");
        assert_eq!(found.narrative.trim(), "You ride.", "{text}");
    }
    for prose in ["Location: Mine", "LOCATION - Mine", "Its location: a mine."] {
        let found = parse(prose);
        assert_eq!((found.method, found.value.narrative.as_str()), ("plain_text", prose));
        assert!(found.value.dialogue.is_empty(), "{prose}");
    }
    assert_eq!(parse("MY_LOCATION: Mine").value.location, None);
}

#[test]
fn lists_in_every_dress() {
    for text in [
        "Go.\nACQUIRED_ITEMS:\n- Rope\n- Map (old)\nOn.",
        "Go.\nACQUIRED_ITEMS: - Rope\n- Map (old)\nOn.",
        "Go.\nACQUIRED_ITEMS:\n```json\n[\"Rope\", \"Map (old)\"]\n```\nOn.",
        "Go.\nACQUIRED\\_ITEMS: Rope, Map (old)\nOn.",
        "Go.\nACQUIRED ITEMS: Rope\nACQUIRED_ITEMS: Map (old)\nOn.",
        "Go.\n\"ACQUIRED_ITEMS\": [\"Rope\", \"Map (old)\"],\nOn.",
        "Go.\nACQUIRED_ITEMS: [\"Rope\", \"Map (old)\"].\nOn.",
        "Go.\n[ACQUIRED_ITEMS: Rope, Map (old)]\n[REMOVED_ITEMS: []]\nOn.",
        "Go.\nACQUIRED_ITEMS: [\"Rope\", \"Map (old)\"\nREMOVED_ITEMS: none\nOn.",
    ] {
        let found = parse(text).value;
        assert_eq!(found.acquired_items, ["Rope", "Map (old)"], "{text}");
        assert!(found.removed_items.is_empty(), "{text}");
        assert_eq!(found.narrative, "Go.\nOn.", "{text}");
    }
    for (actions, expected) in [
        ("Run, Hide", vec!["Run", "Hide"]),
        ("- Run\n- Hide", vec!["Run", "Hide"]),
        ("{\"text\": \"Run\"}", vec!["Run"]),
    ] {
        let found = parse(&format!("Go.\nSUGGESTED_ACTIONS: {actions}\nOn.")).value;
        let texts: Vec<&str> = found.suggested_actions.iter().map(|a| a.text.as_str()).collect();
        assert_eq!((texts, found.narrative.as_str()), (expected, "Go.\nOn."));
    }
    let found = parse("You sit (LOCATION: Saloon (back room)). On.").value;
    assert_eq!(found.location.as_deref(), Some("Saloon (back room)"));
    assert_eq!(found.narrative, "You sit. On.");
}

#[test]
fn a_decision_that_is_not_closed_ends_before_the_next_marker() {
    let text = "Go.\n\"playerDecision\": {\"prompt\": \"Well?\", \"options\": [{\"text\": \"Stay\", \
                \"impact\": \"a\"}, {\"text\": \"Go\", \"impact\": \"b\"}]\nLOCATION: Mine";
    let found = parse(text).value;
    assert_eq!(found.player_decision.map(|decision| decision.options.len()), Some(2));
    assert_eq!((found.narrative.as_str(), found.location.as_deref()), ("Go.", Some("Mine")));
}

#[test]
fn what_was_thought_aloud_is_not_read() {
    let thought = "LOCATION: Nowhere\n\"playerDecision\": {\"prompt\": \"Hm?\"}";
    for answer in
        ["You ride.\nLOCATION: Mine", "{\"narrative\": \"You ride.\", \"location\": \"Mine\"}"]
    {
        let text = format!("<think>\n{thought}\n</think>\n\n{answer}");
        let found = parse(&text);
        assert_eq!(found.reasoning.as_deref(), Some(thought));
        assert_eq!(found.value, parse(answer).value);
        assert_eq!(found.value.narrative, "You ride.");
        assert_eq!(found.value.rejected_decision, None);
    }
    assert_eq!(clean_text("<think>LOCATION: x [Roll: 1]</think>He  nods."), "He nods.");
    assert_eq!(clean_text("He nods. LOCATION: Boot Hill and you go."), "He nods and you go.");
}

/// Pieces for random answers: markers and the text around them.
const PIECES: [&str; 44] = [
    "LOCATION:",
    "LOCATION",
    "ACQUIRED_ITEMS:",
    "REMOVED_ITEMS: [",
    "ACQUIRED_ITEMS: [\"Rope\"]",
    "SUGGESTED_ACTIONS:",
    "COMBAT:",
    "COM",
    "BAT",
    "ITEMS",
    ":",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\r\n",
    "\"",
    "\"",
    "“",
    "”",
    "**",
    "[",
    "]",
    "(",
    ")",
    "`",
    "- ",
    "```",
    "---",
    "Boot Hill",
    "and",
    "you",
    "he nods",
    ".",
    ". ",
    ", ",
    "Rope",
    "rope",
    "the",
    "to",
    "_",
    "!",
    "é",
];

fn name() -> impl Strategy<Value = String> {
    let words = ["Boot", "Hill", "Silver", "Mine", "O'Hara's", "No. 4", "Colt .45", "(old, torn)"];
    let word = prop::sample::select(words.to_vec());
    ("[A-Z][a-z]{3,6}", prop::collection::vec(word, 0..3))
        .prop_map(|(first, rest)| [vec![first.as_str()], rest].concat().join(" "))
}

proptest! {
    #[test]
    fn the_story_is_free_of_markers(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40),
    ) {
        let story = parse(&pieces.concat()).value.narrative;
        prop_assert_eq!(parse(&story).method, "plain_text", "{:?}", story);
    }

    #[test]
    fn a_block_of_markers_is_read_back(
        place in name(), foe in name(), gained in prop::collection::vec(name(), 2..5),
        lost in prop::collection::vec(name(), 0..4),
        prefix in prop::sample::select(vec!["", "- ", "### ", "> "]),
        bold in prop::sample::select(vec!["", "**"]),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mark = |name: &str, value: &str| format!("{prefix}{bold}{name}:{bold} {value}{end}");
        let text = ["Dusk falls.", end, end, "Joe: \"Go!\"", end, &mark("LOCATION", &place),
            &mark("ACQUIRED_ITEMS", &gained.join(", ")),
            &mark("REMOVED_ITEMS", &serde_json::json!(lost).to_string()),
            &mark("COMBAT", &foe), "Night falls."].concat();
        let found = parse(&text).value;
        prop_assert_eq!(found.location, Some(place));
        prop_assert_eq!(found.opponent, Some(foe));
        prop_assert_eq!(found.acquired_items, gained);
        prop_assert_eq!(found.removed_items, lost);
        let story = ["Dusk falls.", end, end, "Joe: \"Go!\"", end, "Night falls."].concat();
        prop_assert_eq!(found.narrative, story);
    }

    #[test]
    fn markers_between_sentences_are_read_back(
        place in name(), gained in prop::collection::vec(name(), 1..5),
    ) {
        let (last, others) = gained.split_last().unwrap();
        let and = if others.is_empty() { "" } else { " and " };
        let list = format!("{}{and}{last}", others.join(", "));
        let text = format!("You ride. LOCATION: {place}. ACQUIRED_ITEMS: {list}. He nods.");
        let found = parse(&text).value;
        prop_assert_eq!(found.location, Some(place));
        prop_assert_eq!(found.acquired_items, gained);
        prop_assert_eq!(found.narrative, "You ride. He nods.");
    }
}
