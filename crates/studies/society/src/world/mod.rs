//! The world of the society: a pure fold of facts. It has no rules except those of its accounts:
//! nothing appears or vanishes without a fact that says so, and work yields the amounts that the
//! rules set.
//!
//! - [`World`]: the state, with its [`Agent`]s, [`Post`]s and [`Proposal`]s.
//! - [`Books`]: accounts with double entry; [`Amount`]s are exact.
//! - [`Breach`]: a fact that cannot have happened.
//! - [`DayFigures`]: resources, inequality and dormancy, by day.

mod amount;
mod apply;
mod books;
mod breach;
mod figures;
mod state;

pub use amount::Amount;
pub use books::{Books, RESOURCES, Stock, name_of};
pub use breach::Breach;
pub use figures::{DayFigures, TurnCounts, gini};
pub(super) use state::NewsKind;
pub use state::{Agent, Contacts, Invalid, Post, Proposal, World};
