//! An adventure: a game master tells a story turn by turn, and a player chooses how it continues.
//!
//! The formats of the answers are those of the source document "AI Response Formats"; [`prompts`]
//! has its wording. It has no rules of play, so these are ours:
//!
//! - A game begins with a hero, created by the model, at the place and with the inventory from the
//!   config. In each turn, the game master tells what happens; then the player chooses among the
//!   options of the decision in the answer, or otherwise among the suggested actions. The last turn
//!   ends the story.
//! - An answer is usable if it tells something, offers something to do (except in the last turn),
//!   and has no invalid decision. Otherwise it is asked for again, up to `max_parse_retries` times;
//!   then the default applies: the story of the last answer, or "Nothing happens.", and
//!   `default_actions` if it offers nothing.
//! - A fight continues as long as answers name the opponent; an opponent who is met for the first
//!   time is created by the model, like the hero.
//! - If an answer takes away something that the player does not have, this is noted and changes
//!   nothing.
//! - If a call to the game master fails, the game ends; if creating a character fails, an average
//!   one is used; if a player cannot be asked or gives no usable answer, the first option is taken.
//!
//! Calls are named `game/1/hero`, `game/1/3/master`, `game/1/3/opponent`, `game/1/3/player`, with
//! game and turn from 1.
//!
//! - [`Adventure`]: the experiment. [`Fact`] is its fact, [`Games`] its state.
//! - [`Policy`]: who chooses. A person answers like a model, through the log: a replay asks nobody.
//! - [`parse`]: the parsers of a game master's answers.
//! - [`AdventureStudy`]: the study as a program offers it.
//! - [`load`]: from a config to settings that hold everything.
//! - [`fork`]: the settings of a game that goes another way from some turn on.
//! - [`SimulatedMaster`]: plays it for the simulated model.

mod ask;
mod charts;
mod check;
mod choose;
mod config;
mod experiment;
mod facts;
mod figures;
mod fork;
mod load;
mod offer;
mod origins;
mod outputs;
pub mod parse;
mod policy;
pub mod prompts;
mod report;
mod requests;
mod simulated;
mod state;
mod study;
mod turn;
mod view;

pub use config::{Config, ForcedChoice, Settings};
pub use experiment::Adventure;
pub use facts::{ChoiceMaker, Fact, GameEnding, Narration};
pub use fork::{ForkError, fork};
pub use load::load;
pub use offer::{DecisionPoint, Offer, OfferedOption};
pub use policy::{HUMAN, Policy};
pub use simulated::SimulatedMaster;
pub use state::{AdventureGame, Games, JournalEntry};
pub use study::AdventureStudy;

/// The experiment's name.
pub const NAME: &str = "adventure";
