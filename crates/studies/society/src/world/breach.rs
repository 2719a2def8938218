//! Facts that cannot have happened in any world with these rules.

use serde::Serialize;

use super::amount::Amount;

/// Why a fact was not folded in: the log was not written by this experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[non_exhaustive]
pub enum Breach {
    /// There is no agent with this number.
    #[error("there is no agent {agent}")]
    UnknownAgent {
        /// The number.
        agent: u32,
    },
    /// There is no proposal with this number.
    #[error("there is no proposal {proposal}")]
    UnknownProposal {
        /// The number.
        proposal: u32,
    },
    /// More was taken than was available.
    #[error("{who} has {has} {resource} and gives {amount}")]
    Lacking {
        /// The account.
        who: String,
        /// Its balance.
        has: Amount,
        /// The resource.
        resource: &'static str,
        /// The amount to be taken.
        amount: Amount,
    },
    /// An agent used more than it had.
    #[error("agent {agent} uses what it needs a day, and has less")]
    Hungry {
        /// The agent.
        agent: u32,
    },
    /// Work that yielded something other than the rules say.
    #[error("work of agent {agent} brings {is}, and by the rules {should}")]
    Yield {
        /// The agent.
        agent: u32,
        /// The recorded yield.
        is: Amount,
        /// The yield according to the rules.
        should: Amount,
    },
    /// A message, proposal or day whose number is not the next one.
    #[error("{what} {is} is not the next: {should}")]
    OutOfOrder {
        /// The kind of thing.
        what: &'static str,
        /// Its number.
        is: u32,
        /// The next number.
        should: u32,
    },
    /// The total does not equal the amounts given and produced, minus the amount used.
    #[error(
        "there is {is} {resource}, where {start} were given at the start, {produced} produced and \
         {used} used"
    )]
    Unbalanced {
        /// The resource.
        resource: &'static str,
        /// The total.
        is: Amount,
        /// The amount given at the beginning.
        start: Amount,
        /// The total production.
        produced: Amount,
        /// The total use.
        used: Amount,
    },
}
