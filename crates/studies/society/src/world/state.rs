//! The state of the society.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::amount::Amount;
use super::books::Books;
use super::breach::Breach;
use super::figures::{DayFigures, TurnCounts};
use crate::parse::{Ballot, ProposalType, Resource};
use crate::personality::Personality;
use crate::rules::SocietyRules;
use retold::run::as_pairs;

/// The state: a world, folded from facts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct World {
    /// The rules it was made with.
    pub rules: SocietyRules,
    /// The current day; 0 before the first.
    pub day: u32,
    /// By number, from 1.
    pub agents: BTreeMap<u32, Agent>,
    /// The accounts.
    pub books: Books,
    /// The forum: message n is at n - 1.
    pub posts: Vec<Post>,
    /// Proposal n is at n - 1.
    pub proposals: Vec<Proposal>,
    /// Figures of each day that has ended.
    pub days: Vec<DayFigures>,
    /// Contacts between agents: from, to.
    #[serde(serialize_with = "as_pairs")]
    pub contacts: BTreeMap<(u32, u32), Contacts>,
    /// Invalid actions, in order.
    pub invalid: Vec<Invalid>,
    /// Facts that were not folded in, and why; empty for a log that this experiment wrote.
    pub breaches: Vec<Breach>,
    /// What happened since the day began.
    pub(super) today: TurnCounts,
    /// Plots worked today.
    pub(super) farmed: u32,
}

/// An agent.
#[derive(Debug, Clone, Serialize)]
pub struct Agent {
    /// Its values.
    pub personality: Personality,
    /// The model that answers for it.
    pub model: String,
    /// Its chosen name.
    pub name: Option<String>,
    /// Whether it lacks food or energy.
    pub dormant: bool,
    /// How often it became dormant.
    pub times_dormant: u32,
    /// The number of days on which it was not asked because it was dormant when the day began. The
    /// day on which it fell dormant does not count; the day on which it woke does.
    pub days_dormant: u32,
    /// The last day on which it took a turn.
    pub acted_on: u32,
    /// The number of its turns, by kind.
    pub did: TurnCounts,
    /// News that concerns it and has not been shown to it yet.
    pub(crate) news: Vec<News>,
}

/// A message in the forum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Post {
    /// The author.
    pub agent_id: u32,
    /// The day.
    pub day: u32,
    /// The message that it replies to.
    pub parent: Option<u32>,
    /// Its text.
    pub content: String,
}

/// A proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The author.
    pub agent_id: u32,
    /// A short title.
    pub title: String,
    /// A longer description.
    pub description: String,
    /// Its type.
    pub kind: ProposalType,
    /// The day it was made.
    pub day: u32,
    /// The last day for voting.
    pub last_day: u32,
    /// Votes by agent.
    pub votes: BTreeMap<u32, Ballot>,
    /// Whether it passed, once it has closed.
    pub passed: Option<bool>,
    /// The day it ended.
    pub closed_on: Option<u32>,
    /// Whether it was carried out: infrastructure built, pool shared.
    pub done: bool,
}

impl Proposal {
    /// Votes: yes, no, abstain.
    pub fn tally(&self) -> (u32, u32, u32) {
        self.votes.values().fold((0, 0, 0), |(yes, no, abstain), vote| match vote {
            Ballot::Yes => (yes + 1, no, abstain),
            Ballot::No => (yes, no + 1, abstain),
            Ballot::Abstain => (yes, no, abstain + 1),
        })
    }

    /// Whether it is a law in force: a law or rule that passed.
    pub fn is_law(&self) -> bool {
        self.passed == Some(true) && matches!(self.kind, ProposalType::Law | ProposalType::Rule)
    }
}

/// How often one agent turned to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Contacts {
    /// Direct messages.
    pub messages: u32,
    /// Replies in the forum.
    pub replies: u32,
    /// Mentions in the forum.
    pub mentions: u32,
    /// Trades.
    pub trades: u32,
}

/// An invalid action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invalid {
    /// The day.
    pub day: u32,
    /// The agent.
    pub agent_id: u32,
    /// `parser`, `world`, or `call` for a call that failed.
    pub rejected_by: &'static str,
    /// The reason.
    pub reason: String,
    /// The action, if it was stated and recorded.
    pub action: Option<serde_json::Value>,
}

/// Something that concerns an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct News {
    /// The day.
    pub(crate) day: u32,
    /// What happened.
    pub(crate) what: NewsKind,
}

/// The kinds of news.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) enum NewsKind {
    Received { from: u32, resource: Resource, amount: Amount },
    Shared { proposal: u32, food: Amount, energy: Amount },
    Messaged { from: u32, content: String },
    Replied { from: u32, message: u32, parent: u32 },
    Mentioned { from: u32, message: u32 },
    Decided { proposal: u32, passed: bool },
    Built { proposal: u32 },
    Rejected { reason: String },
    Slept,
    Woke,
}

impl World {
    /// An agent's name as others see it.
    pub fn name(&self, agent: u32) -> String {
        let chosen = self.agents.get(&agent).and_then(|a| a.name.clone());
        chosen.unwrap_or_else(|| format!("Agent #{agent}"))
    }

    /// The agents who can act.
    pub fn active(&self) -> impl Iterator<Item = u32> {
        self.agents.iter().filter(|(_, agent)| !agent.dormant).map(|(id, _)| *id)
    }

    /// A message of the forum.
    pub fn post(&self, id: u32) -> Option<&Post> {
        self.posts.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// A proposal.
    pub fn proposal(&self, id: u32) -> Option<&Proposal> {
        self.proposals.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// All proposals with their numbers.
    pub fn numbered_proposals(&self) -> impl Iterator<Item = (u32, &Proposal)> {
        (1..).zip(&self.proposals)
    }

    /// Proposals that can be voted on, with their numbers.
    pub fn open(&self) -> impl Iterator<Item = (u32, &Proposal)> {
        self.numbered_proposals().filter(|(_, p)| p.passed.is_none())
    }

    /// Laws and rules in force, with their numbers.
    pub fn laws(&self) -> impl Iterator<Item = (u32, &Proposal)> {
        self.numbered_proposals().filter(|(_, p)| p.is_law())
    }

    /// The number of buildings.
    pub fn buildings(&self) -> u32 {
        let built = |p: &&Proposal| p.done && p.kind == ProposalType::Infrastructure;
        u32::try_from(self.proposals.iter().filter(built).count()).unwrap_or(u32::MAX)
    }

    /// Plots of land that nobody works today.
    pub fn free_land(&self) -> u32 {
        self.rules.land.saturating_sub(self.farmed)
    }

    /// The other agents named in a text, by number (`#12`) or chosen name.
    pub fn mentions(&self, by: u32, text: &str) -> Vec<u32> {
        let numbers: BTreeSet<u32> = text
            .split('#')
            .skip(1)
            .filter_map(|rest| {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest.get(..end)?.parse().ok()
            })
            .collect();
        let named = |id: &u32, agent: &Agent| {
            numbers.contains(id) || agent.name.as_ref().is_some_and(|name| text.contains(name))
        };
        let others = self.agents.iter().filter(|(id, agent)| **id != by && named(id, agent));
        others.map(|(id, _)| *id).collect()
    }
}
