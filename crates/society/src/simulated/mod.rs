//! Plays the society for the simulated model.
//!
//! What it says is not data, only something to try the program with. Its agents behave like this:
//!
//! - Who is short of food or energy mostly works for what it has least of, and now and then asks for
//!   help in the forum; others may give to who asks.
//! - Personalities do different things how often ([`mind`]): the efficient work and build, the equal
//!   share and propose allocations, the free talk and vote against laws, the stable vote and answer.
//! - A malformed answer copies the prompt's notation, invents an action, goes over a limit, breaks its
//!   JSON, is prose or nothing. Some of these can be used after all.
//! - Once in thirty the action is well-formed and may be forbidden: too large a gift, a vote on a
//!   proposal at random.

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

    fn malformed(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        let Some(situation) = situation(request) else { return Vec::new() };
        let action = mind::decide(&situation, dice);
        broken::ways(&situation, &action, dice)
    }

    fn kinds(&self) -> &'static [&'static str] {
        &broken::KINDS
    }
}

/// What a prompt says about the world.
fn situation(request: &Request) -> Option<Situation> {
    let messages = request.messages();
    let text = |role: &str| {
        let found = messages.iter().find(|(r, _)| r == role);
        found.map(|(_, text)| text.as_str()).unwrap_or_default()
    };
    Situation::read(text("system"), text("user"))
}
