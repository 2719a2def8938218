//! The rules: what an action or a night brings about, as facts. Pure; they look at the world and
//! change nothing.
//!
//! - [`Rules`]: the numbers.
//! - [`turn`]: the facts of an agent's action, or why the world forbids it.
//! - `night`: proposals that close, what passed ones bring, what agents use, who goes dormant.

mod forbidden;
mod night;
mod settings;
mod turn;

pub use forbidden::Forbidden;
pub use night::{close_proposals, consume, enact};
pub use settings::{Infrastructure, ProposalRules, Rules, Yields, product};
pub use turn::turn;
