//! The facts of the society, in the past tense.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::personality::Personality;
use super::rules::SocietyRules;
use super::world::Amount;
use crate::parse::{Ballot, ProposalType, Resource, WorkType};

/// A fact. Agents, messages, proposals and days are numbered from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// The world began: there are land and a pool, but no agents yet.
    WorldMade {
        /// Its rules.
        rules: SocietyRules,
    },
    /// An agent joined, with the amounts that the rules give at the start.
    AgentJoined {
        /// The agent.
        agent_id: u32,
        /// Drawn.
        personality: Personality,
        /// The model that answers for it.
        model: String,
    },
    /// A day began.
    DayBegan {
        /// The day.
        day: u32,
    },
    /// An agent said something to everyone.
    ForumPosted {
        /// The agent.
        agent_id: u32,
        /// The message.
        message_id: u32,
        /// Its text.
        content: String,
        /// The other agents it names, by number or chosen name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<u32>,
    },
    /// An agent replied to a message in the forum.
    ForumReplied {
        /// The agent.
        agent_id: u32,
        /// The message.
        message_id: u32,
        /// The message that it replies to.
        parent_message_id: u32,
        /// Its text.
        content: String,
        /// The other agents it names, by number or chosen name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<u32>,
    },
    /// An agent said something to another.
    MessageSent {
        /// The agent.
        agent_id: u32,
        /// The recipient.
        recipient_agent_id: u32,
        /// The text.
        content: String,
    },
    /// An agent made a proposal.
    ProposalCreated {
        /// The agent.
        agent_id: u32,
        /// The proposal.
        proposal_id: u32,
        /// A short title.
        title: String,
        /// A longer description.
        description: String,
        /// Its type.
        proposal_type: ProposalType,
        /// The last day for voting.
        last_day: u32,
    },
    /// An agent voted.
    VoteCast {
        /// The agent.
        agent_id: u32,
        /// The proposal.
        proposal_id: u32,
        /// The vote.
        vote: Ballot,
    },
    /// An agent worked.
    Worked {
        /// The agent.
        agent_id: u32,
        /// The kind of work.
        work_type: WorkType,
        /// 1 to 8.
        hours: u8,
        /// The amount that the agent kept.
        kept: Amount,
        /// The amount that went to the common pool.
        pooled: Amount,
    },
    /// An agent gave something to another.
    Traded {
        /// The agent.
        agent_id: u32,
        /// The recipient.
        recipient_agent_id: u32,
        /// The resource.
        resource_type: Resource,
        /// The amount.
        amount: Amount,
    },
    /// A dormant agent got enough for its needs.
    Woke {
        /// The agent.
        agent_id: u32,
    },
    /// An agent took a name.
    NameTaken {
        /// The agent.
        agent_id: u32,
        /// The name.
        display_name: String,
    },
    /// An agent did nothing; the decision that caused this has the reason.
    Idled {
        /// The agent.
        agent_id: u32,
    },
    /// An answer was not an action, or the world forbids the action. Nothing has changed.
    InvalidAction {
        /// The agent.
        agent_id: u32,
        /// What rejected it.
        rejected_by: Rejecter,
        /// The reason.
        reason: String,
        /// The action as stated; `None` if no object names one, or with `action@1`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Value>,
    },
    /// The call ran out of retries: the agent skips its turn.
    NotAnswered {
        /// The agent.
        agent_id: u32,
        /// What happened.
        reason: String,
    },
    /// The last day of a proposal has passed.
    ProposalClosed {
        /// The proposal.
        proposal_id: u32,
        /// Whether it passed.
        passed: bool,
    },
    /// A passed allocation gave from the pool to an agent in need.
    PoolShared {
        /// The allocation.
        proposal_id: u32,
        /// The recipient.
        agent_id: u32,
        /// How much food.
        food: Amount,
        /// How much energy.
        energy: Amount,
    },
    /// A passed infrastructure proposal was built and paid for by the pool.
    Built {
        /// The proposal.
        proposal_id: u32,
    },
    /// These agents used their daily needs, as the rules set them.
    Consumed {
        /// The agents.
        agents: Vec<u32>,
    },
    /// An agent lacked food or energy.
    WentDormant {
        /// The agent.
        agent_id: u32,
    },
    /// A day ended.
    DayEnded {
        /// The day.
        day: u32,
    },
}

/// What rejected an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejecter {
    /// The parser: the answer is not an action.
    Parser,
    /// The world: it forbids the action.
    World,
}
