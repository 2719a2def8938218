//! Original games that another program played with local models: the original prompts and answers,
//! read by our parsers, folded and settled by our rules.
//!
//! Such a folder has `config.json`, `participant_debug.jsonl` (every prompt and raw answer, plain
//! or compressed) and `participant_sim.csv` (that program's result for each answer). The answers
//! are JSON, and many are followed by rounds that the model invents: `contribution_json@2` and
//! `actions_json@2` take the first object that is an answer. An illegible contribution does not
//! count, and is never replaced by half the endowment.
//!
//! Unlike for the runs with tags ([`crate`]), the prompts were recorded. Our experiment therefore
//! does not write any: each question is the original prompt, word for word, as one user message,
//! and has its hash. Facts, state and tables are those of [`crate`].
//!
//! The sources of the rules:
//!
//! - payoff: endowment minus contribution, plus an equal share of the multiplied pot, minus what
//!   one's own units cost and what units of others take: the words of its prompts; all 1,737
//!   payoffs that the prompts of a next round show come out of it
//! - prompts show payoffs without their fraction: the same payoffs
//! - units are never scaled down, a round can earn less than nothing: the same payoffs
//! - `contribution` is what stays in the pot, also where coins are withdrawn: the words of its
//!   prompts
//!
//! Calls are named as in [`crate`]: `game1/r01/agent_0/contribution`, `.../redistribution`.
//!
//! - [`OriginalGames`]: the experiment.

mod check;
mod compare;
mod experiment;
mod files;
mod read;
mod run;
mod settings;
mod table;

pub(crate) use check::check;
pub use experiment::OriginalGames;
pub(super) use files::is_one;
pub(super) use read::read;
pub use settings::{LocalGame, LocalSettings, OriginalPlayer, RecordedPrompt};

/// The experiment's name in recorded runs.
pub const NAME: &str = "public_goods_log";
