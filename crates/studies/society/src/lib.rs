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
//! `invalid_action` with its reason, and the agent skips its turn. Rules that the document leaves
//! open are set in [`SocietyRules`] (defaults in parentheses):
//!
//! - `start`, `pool`: the food, energy and materials of each agent and of the common pool at the
//!   beginning (5 / 5 / 0 and 100 / 100 / 40)
//! - `land`: plots; each farmer works one that day, and without a free one nobody else farms (60)
//! - `needs`: what an active agent uses when the day ends (1 / 1 / 0)
//! - `yields`: the food, energy and materials of an hour of work (0.75 / 0.75 / 0.5)
//! - `pool_share`: the share of what work brings that goes to the common pool (0.1)
//! - `proposals.days`: how many days a proposal is open, including the first (3)
//! - `proposals.quorum`: a proposal passes with more yes than no, and votes of this share of all
//!   agents (0.1)
//! - `proposals.open_per_agent`: how many open proposals an agent can have at a time (1)
//! - `infrastructure.materials`: the price of a building, which the pool pays once it has it (20)
//! - `infrastructure.bonus`: by how much each building raises what work brings (0.05)
//! - `allocation_days`: a passed allocation fills agents up to so many days' need from the pool,
//!   dormant ones first (3)
//!
//! Also: on each day, every active agent takes one action; all are asked at once, and the actions
//! are carried out in the order of the agents' numbers (or in random order, `shuffle_actions`).
//! Then proposals close, passed ones are carried out, and agents use their daily needs. Passed laws
//! and rules stay in force and are shown to all; following them is up to the agents. An agent can
//! vote once on a proposal, including its own. Every name is unique. Amounts have at most three
//! decimals. Agents cannot trade with or write to themselves; they can give to a dormant agent,
//! which wakes when it has enough for a day.
//!
//! - [`Society`]: the experiment. [`Fact`] is its fact, [`world::World`] its state.
//! - [`rules`]: what an action or a night brings about.
//! - [`world`]: the fold, with double-entry books.
//! - [`parse`]: the parser of actions.
//! - [`original`]: societies that another program has run.
//! - [`SocietyStudy`], [`OriginalSocietiesStudy`]: both as a program offers them.
//! - [`load`]: from a config to settings that hold everything.
//! - [`SimulatedSociety`]: plays it for the simulated model.

mod agent_sources;
mod agreement;
mod charts;
mod check;
mod config;
mod context;
mod experiment;
mod facts;
mod figures;
mod load;
pub mod original;
mod outputs;
pub mod parse;
mod personality;
pub mod prompts;
mod rejections;
mod report;
pub mod rules;
mod settings;
mod simulated;
mod story;
mod study;
pub mod world;

pub use agreement::{Agreement, agreement};
pub use config::{Config, ContextConfig, ModelShare};
pub use experiment::Society;
pub use facts::{Fact, Rejecter};
pub use load::load;
pub use personality::Personality;
pub use rules::SocietyRules;
pub use settings::Settings;
pub use simulated::SimulatedSociety;
pub use study::{OriginalSocietiesStudy, SocietyStudy};

/// The experiment's name.
pub const NAME: &str = "society";
