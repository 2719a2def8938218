//! The world of the society: a pure fold of facts. It holds no rules but the books' own: nothing
//! appears or vanishes but by a fact that says so, and work brings what the rules say.
//!
//! - [`World`]: the state, with its [`Agent`]s, [`Post`]s and [`Proposal`]s.
//! - [`Books`]: who has what, in double entry; [`Amount`]s are exact.
//! - [`Breach`]: a fact that cannot have happened.
//! - [`DayFigures`]: resources, inequality, dormancy, by day.

mod amount;
mod apply;
mod books;
mod breach;
mod figures;
mod state;

pub use amount::Amount;
pub use books::{Books, RESOURCES, Stock, name_of};
pub use breach::Breach;
pub use figures::{Counts, DayFigures, gini};
pub(super) use state::Event;
pub use state::{Agent, Contacts, Invalid, Post, Proposal, World};
