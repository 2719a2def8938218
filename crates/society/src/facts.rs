//! What happens in the society, in the past tense.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::personality::Personality;
use super::rules::Rules;
use super::world::Amount;
use crate::parse::{Ballot, ProposalType, Resource, WorkType};

/// A fact. Agents, messages, proposals and days are numbered from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// The world began: land and pool are there, agents are not yet.
    WorldMade {
        /// Its rules.
        rules: Rules,
    },
    /// An agent joined, with what the rules give at the start.
    AgentJoined {
        /// Who.
        agent_id: u32,
        /// Drawn.
        personality: Personality,
        /// The model that answers for it.
        model: String,
    },
    /// A day began.
    DayBegan {
        /// Which.
        day: u32,
    },
    /// An agent said something to everyone.
    ForumPosted {
        /// Who.
        agent_id: u32,
        /// The message.
        message_id: u32,
        /// Its text.
        content: String,
        /// The other agents it names, by number or chosen name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<u32>,
    },
    /// An agent answered a message of the forum.
    ForumReplied {
        /// Who.
        agent_id: u32,
        /// The message.
        message_id: u32,
        /// What it answers.
        parent_message_id: u32,
        /// Its text.
        content: String,
        /// The other agents it names, by number or chosen name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mentions: Vec<u32>,
    },
    /// An agent said something to another.
    MessageSent {
        /// Who.
        agent_id: u32,
        /// Whom to.
        recipient_agent_id: u32,
        /// The text.
        content: String,
    },
    /// An agent put something to the vote.
    ProposalCreated {
        /// Who.
        agent_id: u32,
        /// The proposal.
        proposal_id: u32,
        /// Short.
        title: String,
        /// Long.
        description: String,
        /// Its type.
        proposal_type: ProposalType,
        /// The last day on which one can vote.
        last_day: u32,
    },
    /// An agent voted.
    VoteCast {
        /// Who.
        agent_id: u32,
        /// On what.
        proposal_id: u32,
        /// How.
        vote: Ballot,
    },
    /// An agent worked.
    Worked {
        /// Who.
        agent_id: u32,
        /// How.
        work_type: WorkType,
        /// 1 to 8.
        hours: u8,
        /// What it kept.
        kept: Amount,
        /// What went to the common pool.
        pooled: Amount,
    },
    /// An agent gave something to another.
    Traded {
        /// Who.
        agent_id: u32,
        /// Whom to.
        recipient_agent_id: u32,
        /// What.
        resource_type: Resource,
        /// How much.
        amount: Amount,
    },
    /// A dormant agent was provided for.
    Woke {
        /// Who.
        agent_id: u32,
    },
    /// An agent took a name.
    NameTaken {
        /// Who.
        agent_id: u32,
        /// The name.
        display_name: String,
    },
    /// An agent did nothing; why is in the decision that caused this.
    Idled {
        /// Who.
        agent_id: u32,
    },
    /// An answer was no action, or the world forbids the action. Nothing has changed.
    InvalidAction {
        /// Who.
        agent_id: u32,
        /// Who rejected it.
        rejected_by: Rejecter,
        /// Why.
        reason: String,
        /// The action, as it was stated; since `action@3`, and none where no object names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Value>,
    },
    /// The call finally failed: the agent skips its turn.
    NotAnswered {
        /// Who.
        agent_id: u32,
        /// What happened.
        reason: String,
    },
    /// The last day of a proposal has passed.
    ProposalClosed {
        /// Which.
        proposal_id: u32,
        /// Whether it passed.
        passed: bool,
    },
    /// A passed allocation gave from the pool to an agent who lacked.
    PoolShared {
        /// Which allocation.
        proposal_id: u32,
        /// Whom to.
        agent_id: u32,
        /// How much food.
        food: Amount,
        /// How much energy.
        energy: Amount,
    },
    /// A passed piece of infrastructure was built and paid for by the pool.
    Built {
        /// Which.
        proposal_id: u32,
    },
    /// These agents ate and burnt what the rules say they need.
    Consumed {
        /// Who.
        agents: Vec<u32>,
    },
    /// An agent lacked food or energy.
    WentDormant {
        /// Who.
        agent_id: u32,
    },
    /// A day ended.
    DayEnded {
        /// Which.
        day: u32,
    },
}

/// Who rejected an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejecter {
    /// The parser: the answer is no action.
    Parser,
    /// The world: it forbids the action.
    World,
}
