//! An adventure: a game master tells a story turn by turn, a player chooses how it goes on.
//!
//! The formats of the answers are those of the source document "AI Response Formats"; [`prompts`]
//! has its words. It gives no rules of play, so these are ours:
//!
//! - A game begins with a hero, made by the model, at the place and with the inventory of the
//!   config. Each turn the game master tells what happens; then the player chooses among the
//!   options of the decision the answer holds, or else among the suggested actions. The last turn
//!   ends the story.
//! - An answer can be used if it tells something and, before the last turn, offers something to do,
//!   and holds no decision that is none. Otherwise it is asked for again, up to `max_parse_retries` times; then the
//!   default: what the last answer tells, or "Nothing happens.", and where it offers nothing,
//!   `default_actions`.
//! - A fight goes on as long as answers name the opponent; whoever is met for the first time is
//!   made by the model, as the hero was.
//! - What an answer takes away that the player does not have is noted and changes nothing.
//! - A call of the game master that fails ends its game; a failed character is an average one; a
//!   player who cannot be asked, or gives no answer that can be used, takes the first option.
//!
//! Calls are named `game/1/hero`, `game/1/3/master`, `game/1/3/opponent`, `game/1/3/player`: game
//! and turn from 1.
//!
//! - [`Adventure`]: the experiment. [`Fact`] is its fact, [`Games`] its state.
//! - [`Policy`]: who chooses. A person answers like a model, through the log: a replay asks nobody.
//! - [`parse`]: the parsers of what a game master tells.
//! - [`Registered`]: the study as a program offers it.
//! - [`load`]: from a config to settings that hold everything.
//! - [`fork`]: the settings of a game that goes another way from some turn on.
//! - [`SimulatedMaster`]: plays it for the simulated model.

mod ask;
mod check;
mod choose;
mod config;
mod experiment;
mod facts;
mod fork;
mod load;
mod offer;
mod origins;
mod outputs;
pub mod parse;
mod policy;
pub mod prompts;
mod registered;
mod report;
mod requests;
mod simulated;
mod state;
mod turn;
mod view;

pub use config::{Config, Forced, Settings};
pub use experiment::Adventure;
pub use facts::{By, Ending, Fact, Told};
pub use fork::{ForkError, fork};
pub use load::load;
pub use offer::{Asked, Choice, Offer};
pub use policy::{HUMAN, Policy};
pub use registered::Registered;
pub use simulated::SimulatedMaster;
pub use state::{Entry, Game, Games};

/// The experiment's name.
pub const NAME: &str = "adventure";
