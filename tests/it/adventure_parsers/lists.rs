//! Suggested actions and values as models write them when they do not keep to the document's
//! format.

use retold::parse::{ParsedAnswer, Parser};
use retold_adventure::parse::{ActionKind, Narrative, narrative_parser};

use ActionKind::{Basic, Combat, Interaction};

fn parse(text: &str) -> ParsedAnswer<Narrative> {
    narrative_parser().unwrap().parse(text)
}

fn kinds(narrative: &Narrative) -> Vec<(&str, ActionKind)> {
    narrative.suggested_actions.iter().map(|a| (a.text.as_str(), a.kind)).collect()
}

#[test]
fn actions_in_a_list_have_types_in_parentheses() {
    for text in [
        "Go.\nSUGGESTED_ACTIONS:\n1. Draw (combat)\n2. **Hide**\n3. \"Talk\" [Type: Interaction]",
        "Go.\n**SUGGESTED_ACTIONS:**\n\n- **Draw** (combat)\n\n- Hide (basic)\n- Talk (interaction)",
        "Go.\nSUGGESTED_ACTIONS: Draw (combat), Hide, Talk (interaction)",
        "Go.\nSUGGESTED_ACTIONS: 1. Draw (combat) 2. Hide 3. Talk (interaction)",
        "Go. SUGGESTED_ACTIONS: 1. Draw (combat) 2. Hide 3. Talk (interaction)",
        "Go.\nSUGGESTED_ACTIONS:\n  {\"text\": \"Draw\", \"type\": \"combat\"},\n  {\"text\": \"Hide\"},\
         \n  {\"text\": \"Talk\", \"type\": \"interaction\"}",
    ] {
        let found = parse(text);
        let expected = [("Draw", Combat), ("Hide", Basic), ("Talk", Interaction)];
        assert_eq!(kinds(&found.value), expected, "{text}");
        assert_eq!(found.value.narrative, "Go.", "{text}");
        assert!(found.warnings.is_empty(), "{text}");
    }
}

#[test]
fn a_line_that_begins_with_a_number_is_not_an_entry() {
    let found =
        parse("Go.\nSUGGESTED_ACTIONS:\n- Run\n- Hide (in 1 hour)\n\n1876 was hard.\n- So!");
    assert_eq!(kinds(&found.value), [("Run", Basic), ("Hide (in 1 hour)", Basic)]);
    assert_eq!(found.value.narrative, "Go.\n\n1876 was hard.\n- So!");
    let found = parse("Go.\nREMOVED_ITEMS:\n12 dollars were stolen from you.").value;
    assert_eq!(found.narrative, "Go.\n12 dollars were stolen from you.");
    assert!(found.removed_items.is_empty());
}

#[test]
fn a_value_may_be_on_the_line_below() {
    for text in [
        "LOCATION:\nMain Street\n\nACQUIRED_ITEMS:\nHat, Boots\n\nYou sit.",
        "You sit.\r\n\r\n**LOCATION:**\r\n**Main Street**\r\n**ACQUIRED_ITEMS:**\r\nHat, Boots",
        "You sit.\n\nLOCATION: \nMain Street\nACQUIRED_ITEMS:\n\n* Hat\n\n* Boots",
    ] {
        let found = parse(text).value;
        assert_eq!(found.location.as_deref(), Some("Main Street"), "{text}");
        assert_eq!(found.acquired_items, ["Hat", "Boots"], "{text}");
        assert_eq!(found.narrative, "You sit.", "{text}");
    }
    for story in [
        "You step outside.",
        "You ride on",
        "Main Street\nis dark.",
        "Joe: Go",
        "The bandit draws!",
    ] {
        let found = parse(&format!("LOCATION:\n{story}\n\nOn.")).value;
        assert_eq!(found.location, None, "{story}");
        assert_eq!(found.narrative, format!("{story}\n\nOn."));
    }
}

#[test]
fn empty_lists_are_recognised_in_many_words() {
    let found = parse(
        "On.\nACQUIRED_ITEMS: (none)\nREMOVED_ITEMS: None.\nCOMBAT: No combat\nLOCATION: (None)",
    );
    assert_eq!(found.value, Narrative { narrative: "On.".to_owned(), ..Narrative::default() });
    assert_eq!(parse("On.\nCOMBAT: Nobody").value.opponent, None);
    assert_eq!(parse("On.\nREMOVED_ITEMS: (old) hat, (n/a)").value.removed_items, ["(old) hat"]);
}

#[test]
fn a_list_ends_where_its_sentence_leads_to_the_next_marker() {
    let found =
        parse("You grab a ACQUIRED_ITEMS: lantern and step into the LOCATION: Old Mine, and rest.");
    assert_eq!(found.value.narrative, "You grab a lantern and step into the Old Mine, and rest.");
    assert_eq!(found.value.acquired_items, ["lantern"]);
    let found = parse("Good. ACQUIRED_ITEMS: Hat, Rope and walk to LOCATION: Old Mine.").value;
    assert_eq!(found.narrative, "Good and walk to Old Mine.");
    assert_eq!(found.acquired_items, ["Hat", "Rope"]);
    let found = parse("You put ACQUIRED_ITEMS: Hat and coat on. You go.").value;
    assert_eq!(found.acquired_items, ["Hat", "coat on"]);
    let found = parse("You enter LOCATION: Dry Creek, drop REMOVED_ITEMS: Rope and go.").value;
    assert_eq!(found.location.as_deref(), Some("Dry Creek"));
}

#[test]
fn a_value_in_brackets_that_its_sentence_needs_stays() {
    let found =
        parse("You enter the [LOCATION: Old Mine], with **ACQUIRED_ITEMS: Rope**. It rains.");
    assert_eq!(found.value.narrative, "You enter the Old Mine, with Rope. It rains.");
    assert_eq!(found.value.location.as_deref(), Some("Old Mine"));
    assert_eq!(found.value.acquired_items, ["Rope"]);
    let found = parse("(LOCATION: Shop)(ACQUIRED_ITEMS: Rope)\nYou trade.").value;
    assert_eq!((found.narrative.as_str(), found.location.as_deref()), ("You trade.", Some("Shop")));
    assert_eq!(found.acquired_items, ["Rope"]);
    let found = parse("LOCATION: You are in the saloon.");
    assert_eq!(
        (found.value.location, found.value.narrative.as_str()),
        (None, " You are in the saloon.")
    );
    assert_eq!(found.warnings.len(), 1);
}

#[test]
fn what_somebody_does_is_apart_from_what_they_say() {
    let found = parse(
        "Doc Hale: *coughs* \"You look bad.\"\n**Sal:** *Draw.*\nTHE KID: \"...\"\nJoe: \"Go!\" he says. \
         \"Now!\"\nDATA: {\"a\": 1}",
    );
    let said: Vec<(&str, &str, Option<&str>)> = found
        .value
        .dialogue
        .iter()
        .map(|d| (d.speaker.as_str(), d.text.as_str(), d.action.as_deref()))
        .collect();
    let expected = [
        ("Doc Hale", "You look bad.", Some("coughs")),
        ("Sal", "", Some("Draw")),
        ("THE KID", "...", None),
        ("Joe", "Go! Now!", Some("he says")),
    ];
    assert_eq!(said, expected);
}
