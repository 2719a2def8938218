//! Plays the society for the simulated model.
//!
//! Its answers are not data; they are only for trying out the program. Its agents behave like this:
//!
//! - An agent short of food or energy mostly works for its scarcest resource, and occasionally asks
//!   for help in the forum; others may then give to it.
//! - Personalities differ in how often they do things ([`mind`]): efficient agents work and build,
//!   equal ones share and propose allocations, free ones talk and vote against laws, stable ones
//!   vote and reply.
//! - A malformed answer copies the prompt's notation, invents an action, exceeds a limit, breaks
//!   its JSON, or is prose or empty. Some of these are still usable.
//! - One time in thirty, the action is well-formed but may be forbidden: too large a gift, or a
//!   vote on a random proposal.

mod broken;
mod mind;
mod read;
mod words;

use self::read::Situation;
use retold::model::simulated::{Dice, Player};
use retold::prompt::Request;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedSociety;

impl Player for SimulatedSociety {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        let Some(situation) = situation(request) else {
            return "I do not see a state of the world in this.".to_owned();
        };
        let action = mind::decide(&situation, dice);
        match dice.below(20) {
            0 => format!("```json\n{action:#}\n```"),
            1 => format!("Here is what I do.\n\n{action}"),
            _ => action.to_string(),
        }
    }

    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let Some(situation) = situation(request) else { return Vec::new() };
        let action = mind::decide(&situation, dice);
        broken::ways(&situation, &action, dice)
    }

    fn kinds(&self) -> &'static [&'static str] {
        &broken::KINDS
    }
}

/// The situation that a prompt describes.
fn situation(request: &Request) -> Option<Situation> {
    let messages = request.messages();
    let text = |role: &str| {
        let found = messages.iter().find(|(r, _)| r == role);
        found.map_or("", |(_, text)| text.as_str())
    };
    Situation::read(text("system"), text("user"))
}
