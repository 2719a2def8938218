//! The actions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an agent does with its turn. In JSON it has the form the prompt asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Says something to everyone.
    ForumPost {
        /// Up to 2,000 characters.
        content: String,
    },
    /// Answers a post.
    ForumReply {
        /// The post.
        parent_message_id: i64,
        /// Up to 2,000 characters.
        content: String,
    },
    /// Says something to one agent.
    DirectMessage {
        /// Whom to.
        recipient_agent_id: i64,
        /// Up to 2,000 characters.
        content: String,
    },
    /// Puts something to the vote.
    CreateProposal {
        /// Up to 200 characters.
        title: String,
        /// Up to 5,000 characters.
        description: String,
        /// Its type.
        proposal_type: ProposalType,
    },
    /// Votes.
    Vote {
        /// On which proposal.
        proposal_id: i64,
        /// How.
        vote: Ballot,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// Produces something.
    Work {
        /// How.
        work_type: WorkType,
        /// From 1 to 8.
        hours: u8,
    },
    /// Gives something to another agent.
    Trade {
        /// Whom to.
        recipient_agent_id: i64,
        /// What.
        resource_type: Resource,
        /// How much: more than nothing.
        amount: f64,
    },
    /// Takes a name.
    SetName {
        /// Up to 50 characters.
        display_name: String,
    },
    /// Does nothing. Version 1 makes this of every answer it cannot use.
    Idle {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// No action: the answer cannot be used. Since version 2.
    Rejected {
        /// Why.
        reason: String,
        /// The action as it was stated, where an object names one. Since version 3.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stated: Option<Value>,
    },
}

/// The types of proposals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalType {
    /// A law.
    Law,
    /// An allocation of resources.
    Allocation,
    /// A rule.
    Rule,
    /// Something to build.
    Infrastructure,
    /// Anything else.
    Other,
}

/// How an agent votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ballot {
    /// For it.
    Yes,
    /// Against it.
    No,
    /// Neither.
    Abstain,
}

/// Kinds of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkType {
    /// Produces food.
    Farm,
    /// Produces energy.
    Generate,
    /// Produces materials.
    Gather,
}

/// What can be given away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Food.
    Food,
    /// Energy.
    Energy,
    /// Materials.
    Materials,
}
