//! The actions that the world forbids.

use crate::world::Amount;
use retold_study::config::figure;

/// Why an action was not done. The agent and the log get this text as the reason.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// There is no agent with the actor's number.
    #[error("there is no agent #{0} to act")]
    NobodyActs(u32),
    /// Dormant agents cannot act.
    #[error("a dormant agent cannot act until someone provides food and energy")]
    Dormant,
    /// One action per day.
    #[error("an agent acts once a day, and this one has acted")]
    Acted,
    /// An unknown agent.
    #[error("there is no agent #{0}")]
    NoAgent(i64),
    /// Trade with or message to oneself.
    #[error("an agent cannot {0} itself")]
    Oneself(&'static str),
    /// An unknown message.
    #[error("there is no message {0} in the forum")]
    NoMessage(i64),
    /// An unknown proposal.
    #[error("there is no proposal {0}")]
    NoProposal(i64),
    /// Voting has ended.
    #[error("proposal {0} is closed")]
    Closed(u32),
    /// One vote per agent.
    #[error("an agent votes once, and this one has voted on proposal {0}")]
    Voted(u32),
    /// Too many open proposals.
    #[error("an agent may have {most} open proposals, and this one has {has}")]
    ManyProposals {
        /// The rule.
        most: u32,
        /// How many it has.
        has: usize,
    },
    /// More hours than a day of work has.
    #[error("hours are from 1 to 8, not {0}")]
    Hours(u8),
    /// No free land.
    #[error("no land is free today: all {0} plots are farmed")]
    NoLand(u32),
    /// More than the agent has.
    #[error("it has {has} {resource} and cannot give {}", figure(*amount))]
    Lacking {
        /// The amount that it has.
        has: Amount,
        /// The amount that it wants to give.
        amount: f64,
        /// The resource.
        resource: &'static str,
    },
    /// An amount that cannot be counted.
    #[error("{} cannot be given: amounts are more than 0, with at most three decimals", figure(*.0))]
    Amount(f64),
    /// Someone else's name.
    #[error("the name {0:?} is another agent's")]
    NameTaken(String),
    /// An invisible name.
    #[error("a name has something in it and is one line")]
    BadName,
    /// The parser has already rejected it.
    #[error("{0}")]
    Rejected(String),
}
