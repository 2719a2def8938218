//! The agent society: agents who share a world of food, energy, materials and land, and decide for
//! themselves how to live in it.
//!
//! Prompts, actions, personalities and limits are those of the source document "Agent System
//! Prompts". Calls are named `day/<day>/agent/<number>`.
//!
//! # Rules
//!
//! The document's rules: an active agent uses 1 food and 1 energy per day, or it is dormant until
//! someone provides both; work takes 1 to 8 hours; an action that is not possible is an
//! `invalid_action` with its reason, and the agent skips its turn. What the document leaves open is
//! set in [`Rules`]:
//!
//! | setting | default | rule |
//! |---|---|---|
//! | `start`, `pool` | 5 / 5 / 0 and 100 / 100 / 40 | food, energy and materials of each agent and of the common pool at the beginning |
//! | `land` | 60 | plots; each farmer works one that day, and without a free one nobody else farms |
//! | `needs` | 1 / 1 / 0 | what an active agent uses when the day ends |
//! | `yields` | 0.75 / 0.75 / 0.5 | food, energy, materials of an hour of work |
//! | `pool_share` | 0.1 | the share of what work brings that goes to the common pool |
//! | `proposals.days` | 3 | days a proposal is open, its first included |
//! | `proposals.quorum` | 0.1 | it passes with more yes than no, and votes of this share of all agents |
//! | `proposals.open_per_agent` | 1 | open proposals of one agent at a time |
//! | `infrastructure.materials` | 20 | what the pool pays for a building, once it has it |
//! | `infrastructure.bonus` | 0.05 | by how much each building raises what work brings |
//! | `allocation_days` | 3 | a passed allocation fills agents up to so many days' need from the pool, dormant ones first |
//!
//! Also: on each day, every active agent takes one action; all are asked at once, and the actions
//! are carried out in the order of the agents' numbers (or in random order, `shuffle_actions`).
//! Then proposals close, passed ones are carried out, and agents use what they need. Passed laws
//! and rules stay in force and are shown to all; following them is up to the agents. An agent can
//! vote once on a proposal, including its own. Every name is unique. Amounts have at most three
//! decimals. Agents cannot trade with or write to themselves; they can give to a dormant agent,
//! which wakes when it has what a day requires.
//!
//! - [`Society`]: the experiment. [`Fact`] is its fact, [`world::World`] its state.
//! - [`rules`]: what an action or a night brings about.
//! - [`world`]: the fold, with double-entry books.
//! - [`parse`]: the parser of actions.
//! - [`original`]: societies that another program has run.
//! - [`Registered`], [`RegisteredOriginal`]: both as a program offers them.
//! - [`load`]: from a config to settings that hold everything.
//! - [`SimulatedSociety`]: plays it for the simulated model.

mod agreement;
mod check;
mod config;
mod context;
mod experiment;
mod facts;
mod load;
pub mod original;
pub mod parse;
mod personality;
pub mod prompts;
mod registered;
mod report;
pub mod rules;
mod seen;
mod settings;
mod simulated;
mod story;
mod tables;
pub mod world;

pub use agreement::{Agreement, agreement};
pub use config::{Config, ContextConfig, ModelShare};
pub use experiment::Society;
pub use facts::{Fact, Rejecter};
pub use load::load;
pub use personality::Personality;
pub use registered::{Registered, RegisteredOriginal};
pub use rules::Rules;
pub use settings::Settings;
pub use simulated::SimulatedSociety;

/// The experiment's name.
pub const NAME: &str = "society";
