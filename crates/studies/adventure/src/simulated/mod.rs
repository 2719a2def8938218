//! Plays an adventure for the simulated model.
//!
//! Its answers are not data; they are only for trying out the program. It behaves like this:
//!
//! - The game master moves the player among eight places, gives and takes things, begins a fight in
//!   one turn of five, which continues in two of three, and includes a decision in one of four.
//! - It writes the markers in all the ways that models do: on lines of their own, inside a
//!   paragraph, in bold, with lists or JSON arrays, or the whole answer as JSON.
//! - A player takes any option, and mostly spells it exactly.
//! - A malformed answer has no markers at all, offers only one option, is cut off, is empty, or is
//!   a refusal; some of these are still usable.

mod master;
mod tales;

use serde_json::json;

use self::tales::{HEROES, pick};
use retold::members::Members;
use retold::model::simulated::{Dice, Player};
use retold::prompt::Request;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedMaster;

impl Player for SimulatedMaster {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        match purpose(&request.messages()) {
            AskedFor::Character => character(dice),
            AskedFor::Turn(prompt) => master::tell(prompt, dice),
            AskedFor::Choice(options) => choose(&options, dice),
            AskedFor::Unknown => "I am not sure what this is about.".to_owned(),
        }
    }

    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let owned = str::to_owned;
        match purpose(&request.messages()) {
            AskedFor::Character => vec![
                ("refusal", owned("I would rather not describe a person.")),
                ("cut_off", owned("{\"name\": \"Silent")),
                ("empty", String::new()),
            ],
            AskedFor::Turn(prompt) => master::broken(prompt, dice),
            AskedFor::Choice(options) => vec![
                ("no_option", owned("I would rather wait and see.")),
                ("empty", String::new()),
                ("two_options", options.join(" and then ")),
            ],
            AskedFor::Unknown => Vec::new(),
        }
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[
            "refusal", "cut_off", "empty", "no_markers", "one_option", "empty_markers",
            "no_option", "two_options",
        ]
    }
}

/// The kind of answer that a prompt asks for.
enum AskedFor<'a> {
    Character,
    /// The next part of the story, with the prompt that has the current state.
    Turn(&'a str),
    /// One of these options.
    Choice(Vec<&'a str>),
    Unknown,
}

fn purpose(messages: &[(String, String)]) -> AskedFor<'_> {
    let (_, first) = messages.first().map_or(("", ""), |(role, text)| (role, text));
    let (_, last) = messages.last().map_or(("", ""), |(role, text)| (role, text));
    if first.starts_with("Create a character") {
        return AskedFor::Character;
    }
    if first.starts_with("You are the game master") {
        return AskedFor::Turn(last);
    }
    if last.ends_with("Respond with ONLY the exact text of your chosen option.") {
        let block = last.rsplit("\n\n").nth(1).unwrap_or("");
        let options = block.lines().filter_map(|line| Some(line.split_once(". ")?.1));
        return AskedFor::Choice(options.collect());
    }
    AskedFor::Unknown
}

/// A character, mostly in the requested format.
fn character(dice: &mut Dice) -> String {
    let mut points = || dice.below(15) + 5;
    let strength = points();
    let mut sheet = json!({"attributes": {
        "speed": points(), "gunAccuracy": points(), "throwingAccuracy": points(),
        "strength": strength, "baseStrength": strength, "bravery": points(),
        "experience": points(),
    }});
    sheet.set("name", pick(&HEROES, dice).into());
    match dice.below(6) {
        0 => format!("```json\n{sheet:#}\n```"),
        1 => format!("Here is your character:\n\n{sheet}"),
        2 => sheet.to_string().replace("\"bravery\"", "\"braveness\""),
        _ => format!("{sheet:#}"),
    }
}

/// One of the numbered options, mostly spelled exactly.
fn choose(options: &[&str], dice: &mut Dice) -> String {
    let number = dice.below(options.len());
    let option = options.get(number).copied().unwrap_or("none");
    match dice.below(8) {
        0 => format!("{}.", number + 1),
        1 => format!("\"{option}\""),
        2 => format!("I choose: {option}."),
        _ => option.to_owned(),
    }
}
