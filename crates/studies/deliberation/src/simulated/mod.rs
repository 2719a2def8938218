//! Plays a deliberation for the simulated model.
//!
//! Its answers are not data; they are only for trying out the program. Its people behave like this:
//!
//! - A persona leans towards one option and cares about two of eight reasons, both determined by
//!   its text. One in five does not vote for the option that it leans towards.
//! - A moderator asks one to five questions, depending on the dialogue's instructions, before
//!   `SATISFIED`.
//! - Opinions shift: after a summary, one in ten switches to another option in it; after an
//!   adversarial dialogue, one in four does, mostly to the view that the moderator presented. (The
//!   two passive conditions are asked with the same words, so they shift alike.)
//! - Vectors are sums of the directions of a text's words: texts about the same reasons are close
//!   to each other.
//! - A malformed answer is of one of the kinds in [`broken::KINDS`].

mod broken;
mod people;
mod read;

use self::people::Persona;
use self::read::{PromptKind, kind};
use retold::model::simulated::{Dice, Player};
use retold::prompt::Request;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedDeliberation;

impl Player for SimulatedDeliberation {
    fn reply(&self, request: &Request, dice: &mut Dice) -> String {
        match kind(&request.messages()) {
            PromptKind::Demographics { persona } => people::demographics(persona, dice),
            PromptKind::Enrich { persona, facts } => people::description(persona, facts, dice),
            PromptKind::Vote { persona, options } => {
                spell(Persona::new(persona, &options).vote(dice), &options, dice)
            }
            PromptKind::Revote { persona, options, before, challenged, text } => {
                let persona = Persona::new(persona, &options);
                spell(&persona.vote_again(before, challenged, text, dice), &options, dice)
            }
            PromptKind::Moderator { system, asked, opposing, choice } => {
                people::question(system, asked, opposing, choice, dice)
            }
            PromptKind::Participant { persona, options, choice } => {
                Persona::new(persona, &options).explain(choice, dice)
            }
            PromptKind::Summary { choice, dialogue } => people::summary(choice, dialogue),
            PromptKind::Cluster { option, positions } => people::common(option, positions),
            PromptKind::Judge { options, choice } => {
                let others: Vec<&str> = options.into_iter().filter(|o| *o != choice).collect();
                dice.pick(&others).to_owned()
            }
            PromptKind::Unknown => "I am not sure what this is about.".to_owned(),
        }
    }

    fn defects(&self, request: &Request, _: &mut Dice) -> Vec<(&'static str, String)> {
        broken::ways(&kind(&request.messages()))
    }

    fn kinds(&self) -> &'static [&'static str] {
        &broken::KINDS
    }

    fn vector(&self, text: &str) -> Option<Vec<f32>> {
        Some(retold_study::word_vector::vector(text))
    }
}

/// The option, mostly word for word.
fn spell(option: &str, options: &[&str], dice: &mut Dice) -> String {
    let number = options.iter().position(|o| *o == option).map_or(0, |at| at + 1);
    match dice.below(20) {
        0 => format!("\"{option}\"."),
        1 => format!("{number}."),
        2 => format!("{number}. {option}"),
        3 => format!("I would go for {}.", option.to_lowercase()),
        _ => option.to_owned(),
    }
}
