//! Every example of the document "AI Response Formats" parses to what its text says.

use retold::parse::{ParsedAnswer, Parser};
use retold_adventure::parse::{
    ActionKind, Character, Importance, Narrative, character_parser, narrative_parser,
};

fn narrative(text: &str) -> ParsedAnswer<Narrative> {
    let parsed = narrative_parser().unwrap().parse(text);
    assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    parsed
}

fn kinds(narrative: &Narrative) -> Vec<(&str, ActionKind)> {
    narrative.suggested_actions.iter().map(|a| (a.text.as_str(), a.kind)).collect()
}

#[test]
fn the_standard_example() {
    let text = "You enter the dusty saloon. The bartender nods in your direction.\n\nLOCATION: Silver \
                Gulch Saloon\nSUGGESTED_ACTIONS: [\n  {\"text\": \"Approach the bar\", \"type\": \
                \"basic\"},\n  {\"text\": \"Look around the room\", \"type\": \"basic\"},\n  \
                {\"text\": \"Talk to the bartender\", \"type\": \"interaction\"}\n]\n";
    let parsed = narrative(text);
    assert_eq!(parsed.method, "markers");
    let found = parsed.value;
    assert_eq!(
        found.narrative,
        "You enter the dusty saloon. The bartender nods in your direction."
    );
    assert_eq!(found.location.as_deref(), Some("Silver Gulch Saloon"));
    let expected = [
        ("Approach the bar", ActionKind::Basic),
        ("Look around the room", ActionKind::Basic),
        ("Talk to the bartender", ActionKind::Interaction),
    ];
    assert_eq!(kinds(&found), expected);
    assert_eq!((found.opponent, found.player_decision), (None, None));
}

#[test]
fn the_combat_example() {
    let text = "A shadowy figure steps out from the alley, revolver drawn.\n\nLOCATION: Dark Alley\n\
                COMBAT: Mysterious Gunslinger\nSUGGESTED_ACTIONS: [\n  {\"text\": \"Draw your \
                weapon\", \"type\": \"combat\"},\n  {\"text\": \"Try to talk your way out\", \
                \"type\": \"interaction\"},\n  {\"text\": \"Dive for cover\", \"type\": \
                \"combat\"}\n]\n";
    let found = narrative(text).value;
    assert_eq!(found.narrative, "A shadowy figure steps out from the alley, revolver drawn.");
    assert_eq!(found.opponent.as_deref(), Some("Mysterious Gunslinger"));
    assert_eq!(found.location.as_deref(), Some("Dark Alley"));
    assert_eq!(kinds(&found)[2], ("Dive for cover", ActionKind::Combat));
}

#[test]
fn the_decision_example() {
    let text = r#"The sheriff offers you a deputy badge.

LOCATION: Sheriff's Office

"playerDecision": {
  "prompt": "Do you accept the sheriff's offer to become a deputy?",
  "options": [
    {
      "text": "Accept the badge",
      "impact": "You'll gain authority but also responsibility",
      "tags": ["lawful", "commitment"]
    },
    {
      "text": "Decline politely",
      "impact": "You'll maintain your freedom but may miss opportunities",
      "tags": ["neutral", "independence"]
    },
    {
      "text": "Laugh at the offer",
      "impact": "You'll offend the sheriff but impress outlaws",
      "tags": ["rude", "reputation"]
    }
  ],
  "importance": "significant",
  "characters": ["Sheriff Wilson"]
}
"#;
    let parsed = narrative(text);
    assert_eq!(parsed.method, "markers_and_decision");
    let found = parsed.value;
    assert_eq!(found.narrative, "The sheriff offers you a deputy badge.");
    assert_eq!(found.location.as_deref(), Some("Sheriff's Office"));
    let decision = found.player_decision.unwrap();
    assert_eq!(decision.prompt, "Do you accept the sheriff's offer to become a deputy?");
    assert_eq!(decision.options.len(), 3);
    assert_eq!(decision.options[2].tags, ["rude", "reputation"]);
    assert_eq!(decision.importance, Importance::Significant);
    assert_eq!(decision.characters, ["Sheriff Wilson"]);
}

#[test]
fn the_character_example() {
    let text = r#"{
  "name": "Character Name",
  "attributes": {
    "speed": 10,
    "gunAccuracy": 12,
    "throwingAccuracy": 8,
    "strength": 11,
    "baseStrength": 11,
    "bravery": 9,
    "experience": 5
  }
}"#;
    let parsed = character_parser().unwrap().parse(text);
    assert_eq!((parsed.method, parsed.warnings.len()), ("json_object", 0));
    let expected: Character = serde_json::from_str(text).unwrap();
    assert_eq!(parsed.value, expected);
    assert_eq!(parsed.value.attributes.gun_accuracy, 12);
}

/// The templates of the document are parsed as they are, with their placeholders.
#[test]
fn the_templates() {
    let text = "[Narrative text content]\n\nLOCATION: [Location name]\nACQUIRED_ITEMS: [Item1, Item2, \
                ...]\nREMOVED_ITEMS: [Item1, Item2, ...]\nSUGGESTED_ACTIONS: [\n  {\"text\": \
                \"Action description\", \"type\": \"basic|combat|interaction\"}\n]\n";
    let parsed = narrative_parser().unwrap().parse(text);
    assert_eq!(parsed.value.narrative, "[Narrative text content]");
    assert_eq!(parsed.value.location.as_deref(), Some("Location name"));
    assert_eq!(parsed.value.acquired_items, ["Item1", "Item2"]);
    assert_eq!(kinds(&parsed.value), [("Action description", ActionKind::Basic)]);
    assert_eq!(parsed.warnings, ["\"basic|combat|interaction\" is no type of action: basic"]);
}
