//! The actions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An agent's action. Its JSON has the form that the prompt asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Says something to everyone.
    ForumPost {
        /// Up to 2,000 characters.
        content: String,
    },
    /// Replies to a post.
    ForumReply {
        /// The post.
        parent_message_id: i64,
        /// Up to 2,000 characters.
        content: String,
    },
    /// Says something to one agent.
    DirectMessage {
        /// The recipient.
        recipient_agent_id: i64,
        /// Up to 2,000 characters.
        content: String,
    },
    /// Makes a proposal.
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
        /// The proposal.
        proposal_id: i64,
        /// The vote.
        vote: Ballot,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// Produces something.
    Work {
        /// The kind of work.
        work_type: WorkType,
        /// From 1 to 8.
        hours: u8,
    },
    /// Gives something to another agent.
    Trade {
        /// The recipient.
        recipient_agent_id: i64,
        /// The resource.
        resource_type: Resource,
        /// The amount: more than nothing.
        amount: f64,
    },
    /// Takes a name.
    SetName {
        /// Up to 50 characters.
        display_name: String,
    },
    /// Does nothing. Version 1 turns every unusable answer into this.
    Idle {
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// Not an action: the answer is not usable. Since version 2.
    Rejected {
        /// The reason.
        reason: String,
        /// The action as stated, if an object names one. Since version 3.
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

/// A vote.
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
