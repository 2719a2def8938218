//! Plays the game for the simulated model.
//!
//! Its answers are not data; they are only for trying out the program. Its players behave like
//! this:
//!
//! - A player is a cooperator, a conditional cooperator (gives about what the others gave on
//!   average in the round before) or a free rider, determined by the instructions: avatar, persona
//!   and rules.
//! - It punishes those who gave less than itself, and rewards those who gave as much or more.
//! - Its reasoning says so, in words of its type. One in twelve finally acts against its own
//!   reasoning.
//! - A malformed answer is a refusal, an answer without tags, one with two amounts, one with the
//!   wrong length, an amount out of range, a tag within the reasoning, or a tag that is not closed.

mod read;
mod speech;

use self::read::{AskedStage, PromptReading};
use crate::NAME;
use retold::model::simulated::{Dice, Player};
use retold::prompt::Request;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedPlayers;

/// How a player plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Cooperator,
    Conditional,
    FreeRider,
}

impl Type {
    fn new(instructions: &str) -> Type {
        match Dice::new(instructions).below(10) {
            0..=3 => Type::Cooperator,
            4..=7 => Type::Conditional,
            _ => Type::FreeRider,
        }
    }

    /// The contribution of such a player.
    fn coins(self, prompt: &PromptReading<'_>, dice: &mut Dice) -> i64 {
        let all = prompt.endowment;
        let share = match self {
            Type::Cooperator => 0.7 + 0.3 * dice.share(),
            Type::Conditional => prompt.last_share.unwrap_or(0.6) - 0.1 + 0.2 * dice.share(),
            Type::FreeRider => 0.25 * dice.share(),
        };
        let share = if prompt.all_or_nothing { share.round() } else { share };
        #[expect(clippy::cast_possible_truncation, reason = "a share of whole coins")]
        let coins = (share.clamp(0.0, 1.0) * all as f64).round() as i64;
        coins
    }
}

/// A player's action, and the reasons.
struct Act {
    reasoning: String,
    tag: &'static str,
    action: String,
}

impl Act {
    /// The tagged answer that a prompt asks for; `None` if it asks for something else.
    fn new(prompt: &PromptReading<'_>, dice: &mut Dice) -> Option<Act> {
        let kind = Type::new(prompt.instructions);
        let (reasoning, tag, action) = match prompt.stage {
            AskedStage::Amount | AskedStage::Unknown => return None,
            AskedStage::Chat => {
                (speech::before_chat(kind, dice), "MESSAGE", speech::message(kind, dice))
            }
            AskedStage::Contribution => {
                let coins = kind.coins(prompt, dice);
                let stated = if dice.chance(1.0 / 12.0) { prompt.endowment - coins } else { coins };
                let amount = if prompt.withdraws { prompt.endowment - coins } else { coins };
                (
                    speech::before_contribution(kind, prompt, stated, dice),
                    "CONTRIBUTE",
                    amount.to_string(),
                )
            }
            AskedStage::Redistribution => {
                let units = speech::units(kind, prompt, dice);
                let array: Vec<String> = units.iter().map(i64::to_string).collect();
                let reasoning = speech::before_redistribution(prompt, &units);
                (reasoning, "REDISTRIBUTE", format!("[{}]", array.join(", ")))
            }
        };
        Some(Act { reasoning, tag, action })
    }
}

impl Player for SimulatedPlayers {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        let messages = request.messages();
        let prompt = PromptReading::read(&messages);
        let Some(Act { reasoning, tag, action }) = Act::new(&prompt, dice) else {
            return match prompt.stage {
                AskedStage::Amount => {
                    Type::new(prompt.instructions).coins(&prompt, dice).to_string()
                }
                _ => format!("This is not {NAME}."),
            };
        };
        match dice.below(12) {
            0 => format!("```xml\n{}\n```", speech::in_tags(&reasoning, tag, &action)),
            1 => format!("<{tag}>{action}</{tag}>"),
            _ => speech::in_tags(&reasoning, tag, &action),
        }
    }

    fn defects(&self, request: &Request, dice: &mut Dice) -> Vec<(&'static str, String)> {
        match Act::new(&PromptReading::read(&request.messages()), dice) {
            Some(Act { reasoning, tag, action }) => speech::broken(&reasoning, tag, &action),
            None => Vec::new(),
        }
    }

    fn kinds(&self) -> &'static [&'static str] {
        &speech::KINDS
    }

    fn vector(&self, text: &str) -> Option<Vec<f32>> {
        Some(retold_study::word_vector::vector(text))
    }
}
