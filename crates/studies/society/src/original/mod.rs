//! Original societies: the event log of a society run by another program, read by our parser.
//!
//! The world of such a log has its own rules (energy and influence, a market, deaths), so it is not
//! played again in ours: events are taken from its log, and only the answers are parsed again, by
//! `action@2`. The fold records the agents' holdings, which agents were alive, the actions done and
//! refused in that world, and the actions rejected here with the reasons.
//!
//! The log has neither prompts nor raw answers. A question is the log's description of the
//! situation; an answer is assembled from its fields. `speak` is our `forum_post` under another
//! name, and is written as such; every other action is written as logged: its `trade`, `support`
//! and `move` are not actions of ours, and are rejected with a reason although that world carried
//! them out.
//!
//! In particular, that world lets an agent trade on a market without naming a recipient or an
//! amount, and pays for it. The source document's `trade` names a recipient, a resource and an
//! amount, so `action@2` rejects every trade in such a log, and rightly: there is nothing that
//! could be given to anyone. The changes due to a trade are folded as logged, and an import's notes
//! count the trades.
//!
//! Lines are used in the order of run, epoch and turn, whatever their order in the file; the notes
//! say how many were out of order.
//!
//! Calls are named `run/<run>/epoch/<epoch>/agent/<agent>`.
//!
//! - [`OriginalSociety`]: the experiment; [`OriginalFact`] is its fact, [`OriginalState`] its state.
//! - [`read()`]: reads such a log, for `retold import society FILE`.

mod answers;
mod compare;
mod experiment;
mod facts;
mod files;
mod order;
mod read;
mod report;
mod settings;
mod state;

pub use experiment::OriginalSociety;
pub use facts::{Holdings, OriginalFact};
pub use read::read;
pub(crate) use settings::check;
pub use settings::{OriginalSettings, OriginalTurn, There};
pub use state::{Epoch, OriginalState};

/// The experiment's name in recorded runs.
pub const NAME: &str = "society_log";
