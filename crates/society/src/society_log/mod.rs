//! A society that another program has run: its event log, read by our parser.
//!
//! The world of such a log has rules of its own (energy and influence, a market, deaths), so it is not
//! played again in ours: what happened there is taken as its log tells it, and what is made anew is the
//! reading of each answer by `action@3`. The fold holds what agents had, who was alive, what was done
//! and refused there, and what is rejected here and why.
//!
//! The log has no prompts and no raw answers. A question is what the log holds of the situation; an
//! answer is put together from its fields. `speak` is our `forum_post` under another name and is written so;
//! every other action is written as logged: its `trade`, `support` and `move` are no actions of ours, and are
//! rejected with a reason though they were done there.
//!
//! Its trades in particular: its world lets an agent trade on a market with nobody named and nothing counted,
//! and pays for it. The source document's `trade` names a recipient, a resource and an amount, so `action@3`
//! rejects every trade of such a log, and rightly: there is nothing that could be given to anyone. What a trade
//! changed there is folded as logged, and an import's notes count them.
//!
//! Lines are taken in the order of run, epoch and turn, whatever their order in the file; the notes say
//! how many stood elsewhere.
//!
//! Calls are named `run/<run>/epoch/<epoch>/agent/<agent>`.
//!
//! - [`SocietyLog`]: the experiment; [`Fact`] is its fact, [`Observed`] its state.
//! - [`reenact`]: reads such a log, for `retold import society FILE`.

mod answers;
mod experiment;
mod facts;
mod files;
mod order;
mod reenact;
mod report;
mod settings;
mod state;

pub use experiment::SocietyLog;
pub use facts::{Fact, Holdings};
pub use reenact::reenact;
pub(crate) use settings::check;
pub use settings::{Entry, Settings, There};
pub use state::{Epoch, Observed};

/// The experiment's name.
pub const NAME: &str = "society_log";
