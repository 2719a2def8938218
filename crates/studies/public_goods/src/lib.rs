//! A public goods game: do players contribute to the common good, what do they say and do to each
//! other, and how do they reason?
//!
//! Every round has several stages: chat (optional), contribution, redistribution (optional:
//! punishment or reward), payoff. Answers separate the reasoning from the action, in the format of
//! the source document "Structured Output Format for LLM Responses"; [`crate::parse`] reads them.
//!
//! The sources of the rules:
//!
//! - output formats, tags, fall-backs, the words of the contribution stage: the source document
//! - parameters and their names ([`Config`]): `config.json` of the original runs
//! - payoffs, budgets, scaling ([`rules`]): the original runs' logs, which they reproduce exactly
//! - messages one after the other, in the order of the players: the original answers, which reply
//!   to those before them
//! - avatars ([`AVATARS`]): the names in the original runs; here they are drawn by the seed
//! - what settings hide ([`Config::peer_outcome_visibility`], [`Config::actor_anonymity`]): the
//!   parameters' names; ours in detail
//! - a player who fails leaves, the share is divided among those who contributed (the multiplier
//!   stays, so each coin then returns more to each than the MPCR says), one player alone ends the
//!   game: ours
//! - another answer when one cannot be used ([`Config::max_parse_retries`]), then the document's
//!   default or failure ([`Config::unusable_answer`]): ours, and the document's priority list
//! - measures, comparison and groups of reasoning ([`measures`]): the document's "Future
//!   Extensions"; ours in detail
//!
//! Calls are named by game, round, player and stage: `game1/r01/agent_0/chat`, `.../contribution`,
//! `.../contribution/decision`, `.../redistribution`, `.../contribution/embedding`.
//!
//! - [`PublicGoods`]: the experiment. [`Fact`] is its fact, [`PlayedGames`] its state.
//! - [`parse`]: the parsers of its answers.
//! - [`PublicGoodsStudy`], [`OriginalGamesStudy`]: both as a program offers them.
//! - [`load`]: from a config to settings that hold everything.
//! - [`rules`]: the arithmetic of a round.
//! - [`measures`]: what can be counted in a reasoning.
//! - [`original`]: games that other programs have played.
//! - [`SimulatedPlayers`]: plays it for the simulated model.

mod actions;
mod ask;
mod avatars;
mod charts;
mod check;
mod config;
mod experiment;
mod facts;
mod figures;
mod groups;
mod load;
pub mod measures;
pub mod original;
mod origins;
mod outputs;
pub mod parse;
pub mod prompts;
mod report;
pub mod rules;
mod settings;
mod simulated;
mod situation;
mod stage;
mod stages;
mod state;
mod story;
mod study;
mod view;
mod words;

pub use avatars::AVATARS;
pub(crate) use check::{check_counts, check_values};
pub use config::{Config, Horizon, IfUnusable, PlayerConfig, ReasoningConfig};
pub use experiment::PublicGoods;
pub use facts::{DecidingAnswer, Fact, PlayerTurn};
pub use load::load;
pub(crate) use outputs::files as output_files;
pub(crate) use report::report;
pub use settings::Settings;
pub use simulated::SimulatedPlayers;
pub use stage::Stage;
pub(crate) use stages::settlement_facts;
pub use state::{
    Contribution, Game, GameMessage, Payoff, PlayedGames, PlayerSeat, Redistribution, Round,
    RoundResult,
};
pub(crate) use story::story;
pub use study::{OriginalGamesStudy, PublicGoodsStudy};

/// The experiment's name.
pub const NAME: &str = "public_goods";
