//! The rules: the consequences of an action or a night, as facts. Pure: they read the world and do
//! not change it.
//!
//! - [`SocietyRules`]: the numbers.
//! - [`turn`]: the facts of an agent's action, or why the world forbids it.
//! - `night`: which proposals close, what passed ones lead to, what agents use, and who goes
//!   dormant.

mod forbidden;
mod night;
mod settings;
mod turn;

pub use forbidden::Forbidden;
pub use night::{close_proposals, consume, enact};
pub use settings::{Infrastructure, ProposalRules, SocietyRules, Yields, product};
pub use turn::turn;
