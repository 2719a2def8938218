//! The stories of a simulated game master.

use serde_json::{Value, json};

use super::tales::{DILEMMAS, Dilemma, FOES, ITEMS, PEOPLE, PLACES, SAYINGS, StoryPlace, pick};
use retold::members::Members;
use retold::model::simulated::Dice;

/// A turn, before it is formatted.
struct SimulatedTurn<'a> {
    story: String,
    place: &'a str,
    gained: Vec<&'a str>,
    lost: Vec<&'a str>,
    foe: Option<&'a str>,
    dilemma: Option<&'a Dilemma>,
    actions: Vec<(&'static str, &'static str)>,
}

/// The answer to a prompt that has the current state.
pub(super) fn tell(prompt: &str, dice: &mut Dice) -> String {
    if is_last(prompt) {
        let place = line(prompt, "Location: ").unwrap_or("Boot Hill");
        return format!(
            "The sun goes down behind {place}. {} tips a hat to you, and the road out of town lies \
             open.\n\nLOCATION: {place}",
            pick(&PEOPLE, dice)
        );
    }
    turn_text(&next(prompt, dice), dice)
}

fn is_last(prompt: &str) -> bool {
    prompt.contains("This is the last turn.")
}

fn line<'a>(prompt: &'a str, key: &str) -> Option<&'a str> {
    prompt.lines().find_map(|line| line.strip_prefix(key))
}

/// The turn that follows a prompt.
fn next<'a>(prompt: &'a str, dice: &mut Dice) -> SimulatedTurn<'a> {
    let line = |key| line(prompt, key);
    turn(line("Inventory: "), line("Combat: "), line("The player's choice: "), dice)
}

fn turn<'a>(
    inventory: Option<&'a str>,
    fight: Option<&'a str>,
    choice: Option<&str>,
    dice: &mut Dice,
) -> SimulatedTurn<'a> {
    let StoryPlace { name: place, sights } = &PLACES[dice.below(PLACES.len())];
    let mut story = match choice {
        Some(choice) => {
            format!("You do as you said: {}. ", choice.trim_end_matches('.').to_lowercase())
        }
        None => "The dust of the stagecoach settles. ".to_owned(),
    };
    story.push_str(pick(sights, dice));
    let carried: Vec<&str> = inventory.unwrap_or("").split(", ").collect();
    let lost = match dice.below(5) {
        0 => carried.get(dice.below(carried.len())).copied().into_iter().collect(),
        // Occasionally it takes away something that nobody has.
        1 if dice.chance(0.3) => vec!["Golden spur"],
        _ => Vec::new(),
    };
    let gained = if dice.chance(0.4) { vec![pick(&ITEMS, dice)] } else { Vec::new() };
    let foe = match fight.and_then(|fight| fight.split(" (").next()) {
        Some(foe) => dice.chance(0.66).then_some(foe),
        None => dice.chance(0.2).then(|| pick(&FOES, dice)),
    };
    if let Some(foe) = foe {
        story.push_str(&format!(" {foe} steps into your way, hand at the holster."));
    } else if dice.chance(0.4) {
        story.push_str(&format!("\n\n{}: \"{}\"", pick(&PEOPLE, dice), pick(&SAYINGS, dice)));
    }
    let dilemma = (foe.is_none() && dice.chance(0.25)).then(|| &DILEMMAS[dice.below(4)]);
    let actions = match foe {
        Some(_) => vec![
            ("Draw your weapon", "combat"),
            ("Try to talk your way out", "interaction"),
            ("Dive for cover", "combat"),
        ],
        None => vec![
            ("Look around", "basic"),
            ("Talk to whoever is there", "interaction"),
            ("Search the place", "basic"),
            ("Walk on", "basic"),
        ],
    };
    SimulatedTurn { story, place, gained, lost, foe, dilemma, actions }
}

/// The turn in one of the formats that models use.
fn turn_text(turn: &SimulatedTurn<'_>, dice: &mut Dice) -> String {
    if dice.below(6) == 0 {
        return whole(turn);
    }
    let mark =
        |name: &str, bold: bool| if bold { format!("**{name}:**") } else { format!("{name}:") };
    let bold = dice.below(8) == 0;
    let mut text = match dice.below(6) {
        // Inside the paragraph.
        0 => format!("{} LOCATION: {}", turn.story, turn.place),
        _ => format!("{}\n\n{} {}", turn.story, mark("LOCATION", bold), turn.place),
    };
    for (name, items) in [("ACQUIRED_ITEMS", &turn.gained), ("REMOVED_ITEMS", &turn.lost)] {
        let list = match dice.below(4) {
            0 => json!(items).to_string(),
            1 => format!("[{}]", items.join(", ")),
            _ if items.is_empty() => continue,
            _ => items.join(", "),
        };
        text.push_str(&format!("\n{} {list}", mark(name, bold)));
    }
    if let Some(foe) = turn.foe {
        text.push_str(&format!("\n{} {foe}", mark("COMBAT", bold)));
    }
    match turn.dilemma {
        Some(dilemma) => match dice.below(3) {
            0 => text.push_str(&format!(
                "\n\n```json\n{{\"playerDecision\": {:#}}}\n```",
                decision(dilemma)
            )),
            _ => text.push_str(&format!("\n\n\"playerDecision\": {:#}", decision(dilemma))),
        },
        None => {
            let actions = actions(turn);
            text.push_str(&match dice.below(4) {
                0 => format!("\n{} {actions}", mark("SUGGESTED_ACTIONS", bold)),
                // A superfluous comma, as models tend to write.
                1 => format!("\nSUGGESTED_ACTIONS: {}", actions.to_string().replace("}]", "},]")),
                _ => format!("\nSUGGESTED_ACTIONS: {actions:#}"),
            });
        }
    }
    text
}

/// The turn as one JSON object.
fn whole(turn: &SimulatedTurn<'_>) -> String {
    let mut object = json!({
        "narrative": turn.story, "location": turn.place, "acquiredItems": turn.gained,
        "removedItems": turn.lost, "suggestedActions": actions(turn),
    });
    if let Some(foe) = turn.foe {
        object.set("opponent", foe.into());
    }
    if let Some(dilemma) = turn.dilemma {
        object.set("playerDecision", decision(dilemma));
    }
    format!("```json\n{object:#}\n```")
}

fn actions(turn: &SimulatedTurn<'_>) -> Value {
    turn.actions.iter().map(|(text, kind)| json!({"text": text, "type": kind})).collect()
}

fn decision(dilemma: &Dilemma) -> Value {
    let options = dilemma.options.iter();
    let options = options.map(|(text, impact)| json!({"text": text, "impact": impact, "tags": []}));
    json!({
        "prompt": dilemma.prompt, "options": options.collect::<Value>(),
        "importance": dilemma.importance,
    })
}

/// Answers that break the format. The last turn has no format to break.
pub(super) fn broken(prompt: &str, dice: &mut Dice) -> Vec<(&'static str, String)> {
    if is_last(prompt) {
        return Vec::new();
    }
    let SimulatedTurn { story, place, .. } = next(prompt, dice);
    let one_option = format!(
        "{story}\n\nLOCATION: {place}\n\n\"playerDecision\": {{\"prompt\": \"Well?\", \"options\": \
         [{{\"text\": \"Go on\", \"impact\": \"You go on\"}}]}}"
    );
    let cut_off = format!("{story}\n\nLOCATION: {place}\nSUGGESTED_ACTIONS: [{{\"text\": \"Draw");
    let empty_markers = format!("{story}\n\nLOCATION:\nSUGGESTED_ACTIONS:");
    vec![
        ("no_markers", story),
        ("one_option", one_option),
        ("cut_off", cut_off),
        ("empty_markers", empty_markers),
        ("refusal", "I'm sorry, but I can't continue this story.".to_owned()),
        ("empty", String::new()),
    ]
}
