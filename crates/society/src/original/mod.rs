//! Original societies: the event log of a society that another program has run, read by our parser.
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
//! how many were elsewhere.
//!
//! Calls are named `run/<run>/epoch/<epoch>/agent/<agent>`.
//!
//! - [`OriginalSociety`]: the experiment; [`OriginalFact`] is its fact, [`Observed`] its state.
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
pub use settings::{Entry, OriginalSettings, There};
pub use state::{Epoch, Observed};

/// The experiment's name, which recorded runs have.
pub const NAME: &str = "society_log";
