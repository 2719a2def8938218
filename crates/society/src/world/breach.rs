//! Facts that no world of these rules can have brought about.

use serde::Serialize;

use super::amount::Amount;

/// Why a fact was not folded in: the log it comes from was not written by this experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub enum Breach {
    /// Nobody of that number.
    #[error("there is no agent {agent}")]
    UnknownAgent {
        /// The number.
        agent: u32,
    },
    /// No proposal of that number.
    #[error("there is no proposal {proposal}")]
    UnknownProposal {
        /// The number.
        proposal: u32,
    },
    /// More was taken than was there.
    #[error("{who} has {has} {resource} and gives {amount}")]
    Lacking {
        /// Whose account.
        who: String,
        /// What is on it.
        has: Amount,
        /// Which resource.
        resource: &'static str,
        /// What was to be taken.
        amount: Amount,
    },
    /// An agent used what it did not have.
    #[error("agent {agent} uses what it needs a day, and has less")]
    Hungry {
        /// Who.
        agent: u32,
    },
    /// Work that brought something else than the rules say.
    #[error("work of agent {agent} brings {is}, and by the rules {should}")]
    Yield {
        /// Who worked.
        agent: u32,
        /// What it brought.
        is: Amount,
        /// What it brings by the rules.
        should: Amount,
    },
    /// A message, proposal or day with another number than the next.
    #[error("{what} {is} is not the next: {should}")]
    OutOfOrder {
        /// What is numbered.
        what: &'static str,
        /// Its number.
        is: u32,
        /// The next number.
        should: u32,
    },
    /// What is there is not what was given and produced less what was used.
    #[error(
        "there is {is} {resource}, where {start} were given at the start, {produced} produced and \
         {used} used"
    )]
    Unbalanced {
        /// Which resource.
        resource: &'static str,
        /// What is there.
        is: Amount,
        /// What was given at the beginning.
        start: Amount,
        /// What was ever produced.
        produced: Amount,
        /// What was ever used.
        used: Amount,
    },
}
