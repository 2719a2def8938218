//! Folds facts into the world: only consequences. A fact that cannot have happened is noted and
//! changes nothing else.

use super::amount::Amount;
use super::books::{RESOURCES, ResourceSource, ResourceTarget, Stock};
use super::breach::Breach;
use super::figures::{DayFigures, TurnCounts, gini};
use super::state::{Agent, Contacts, Invalid, News, NewsKind, Post, Proposal, World};
use crate::Personality;
use crate::facts::{Fact, Rejecter};
use crate::parse::{ProposalType, WorkType};
use crate::rules::product;

impl World {
    /// Folds a fact in.
    pub fn apply(&mut self, fact: &Fact) {
        let done = self.change(fact).and_then(|()| self.books.check());
        self.breaches.extend(done.err());
    }

    fn change(&mut self, fact: &Fact) -> Result<(), Breach> {
        match fact.clone() {
            Fact::WorldMade { rules } => {
                self.books.transfer_stock(
                    ResourceSource::Start,
                    ResourceTarget::Pool,
                    &rules.pool,
                )?;
                self.rules = rules;
            }
            Fact::AgentJoined { agent_id, personality, model } => {
                next("agent", agent_id, self.agents.len())?;
                self.books.open(agent_id);
                let to = ResourceTarget::Agent(agent_id);
                self.books.transfer_stock(ResourceSource::Start, to, &self.rules.start)?;
                self.agents.insert(agent_id, Agent::new(personality, model));
            }
            Fact::DayBegan { day } => {
                next("day", day, usize::try_from(self.day).unwrap_or(usize::MAX))?;
                (self.day, self.farmed, self.today) = (day, 0, TurnCounts::default());
                for agent in self.agents.values_mut() {
                    agent.days_dormant += u32::from(agent.dormant);
                }
            }
            Fact::ForumPosted { agent_id, message_id, content, mentions } => {
                self.post_message(agent_id, message_id, None, content, &mentions)?;
                self.turn(agent_id, |did| did.posts += 1)?;
            }
            Fact::ForumReplied { agent_id, message_id, parent_message_id, content, mentions } => {
                self.post_message(
                    agent_id,
                    message_id,
                    Some(parent_message_id),
                    content,
                    &mentions,
                )?;
                self.turn(agent_id, |did| did.replies += 1)?;
            }
            Fact::MessageSent { agent_id, recipient_agent_id, content } => {
                self.agent(recipient_agent_id)?;
                self.turn(agent_id, |did| did.messages += 1)?;
                self.tell(recipient_agent_id, NewsKind::Messaged { from: agent_id, content });
                self.contact(agent_id, recipient_agent_id, |c| c.messages += 1);
            }
            Fact::ProposalCreated {
                agent_id,
                proposal_id,
                title,
                description,
                proposal_type,
                last_day,
            } => {
                next("proposal", proposal_id, self.proposals.len())?;
                self.turn(agent_id, |did| did.proposals += 1)?;
                self.proposals.push(Proposal {
                    agent_id,
                    title,
                    description,
                    kind: proposal_type,
                    day: self.day,
                    last_day,
                    votes: Default::default(),
                    passed: None,
                    closed_on: None,
                    done: false,
                });
            }
            Fact::VoteCast { agent_id, proposal_id, vote } => {
                self.proposal_mut(proposal_id)?;
                self.turn(agent_id, |did| did.votes += 1)?;
                self.proposal_mut(proposal_id)?.votes.insert(agent_id, vote);
            }
            Fact::Worked { agent_id, work_type, hours, kept, pooled } => {
                let should = self.rules.produce(work_type, hours, self.buildings());
                let is = kept.plus(pooled);
                if is != should {
                    return Err(Breach::Yield { agent: agent_id, is, should });
                }
                self.turn(agent_id, |did| did.work += 1)?;
                let resource = product(work_type);
                self.books.transfer(
                    ResourceSource::Work,
                    ResourceTarget::Agent(agent_id),
                    resource,
                    kept,
                )?;
                self.books.transfer(
                    ResourceSource::Work,
                    ResourceTarget::Pool,
                    resource,
                    pooled,
                )?;
                self.farmed += u32::from(work_type == WorkType::Farm);
            }
            Fact::Traded { agent_id, recipient_agent_id, resource_type, amount } => {
                let (from, to) =
                    (ResourceSource::Agent(agent_id), ResourceTarget::Agent(recipient_agent_id));
                self.books.transfer(from, to, resource_type, amount)?;
                self.turn(agent_id, |did| did.trades += 1)?;
                let what = NewsKind::Received { from: agent_id, resource: resource_type, amount };
                self.tell(recipient_agent_id, what);
                self.contact(agent_id, recipient_agent_id, |c| c.trades += 1);
            }
            Fact::Woke { agent_id } => {
                self.agent(agent_id)?.dormant = false;
                self.tell(agent_id, NewsKind::Woke);
            }
            Fact::NameTaken { agent_id, display_name } => {
                self.turn(agent_id, |did| did.names += 1)?;
                self.agent(agent_id)?.name = Some(display_name);
            }
            Fact::Idled { agent_id } => self.turn(agent_id, |did| did.idle += 1)?,
            Fact::InvalidAction { agent_id, rejected_by, reason, action } => {
                self.turn(agent_id, |did| did.invalid += 1)?;
                self.tell(agent_id, NewsKind::Rejected { reason: reason.clone() });
                let rejected_by = match rejected_by {
                    Rejecter::Parser => "parser",
                    Rejecter::World => "world",
                };
                let day = self.day;
                self.invalid.push(Invalid { day, agent_id, rejected_by, reason, action });
            }
            Fact::NotAnswered { agent_id, reason } => {
                self.turn(agent_id, |did| did.unanswered += 1)?;
                let rejected_by = "call";
                let day = self.day;
                self.invalid.push(Invalid { day, agent_id, rejected_by, reason, action: None });
            }
            Fact::ProposalClosed { proposal_id, passed } => self.close(proposal_id, passed)?,
            Fact::PoolShared { proposal_id, agent_id, food, energy } => {
                self.proposal_mut(proposal_id)?;
                let stock = Stock { food, energy, materials: Amount::ZERO };
                self.books.transfer_stock(
                    ResourceSource::Pool,
                    ResourceTarget::Agent(agent_id),
                    &stock,
                )?;
                self.tell(agent_id, NewsKind::Shared { proposal: proposal_id, food, energy });
                self.proposal_mut(proposal_id)?.done = true;
            }
            Fact::Built { proposal_id } => {
                let author = self.proposal_mut(proposal_id)?.agent_id;
                let materials = self.rules.infrastructure.materials;
                let stock = Stock { materials, ..Stock::default() };
                self.books.transfer_stock(ResourceSource::Pool, ResourceTarget::Use, &stock)?;
                self.proposal_mut(proposal_id)?.done = true;
                self.tell(author, NewsKind::Built { proposal: proposal_id });
            }
            Fact::Consumed { agents } => {
                let needs = self.rules.needs;
                for agent in &agents {
                    let lacks = !self.books.agent(*agent).covers(&needs);
                    if lacks {
                        return Err(Breach::Hungry { agent: *agent });
                    }
                }
                for agent in agents {
                    self.books.transfer_stock(
                        ResourceSource::Agent(agent),
                        ResourceTarget::Use,
                        &needs,
                    )?;
                }
            }
            Fact::WentDormant { agent_id } => {
                let agent = self.agent(agent_id)?;
                agent.dormant = true;
                agent.times_dormant += 1;
                self.tell(agent_id, NewsKind::Slept);
            }
            Fact::DayEnded { day } => self.end_day(day),
        }
        Ok(())
    }

    /// Counts a turn of an agent.
    fn turn(&mut self, agent: u32, count: impl Fn(&mut TurnCounts)) -> Result<(), Breach> {
        let day = self.day;
        let agent = self.agent(agent)?;
        agent.acted_on = day;
        count(&mut agent.did);
        count(&mut self.today);
        Ok(())
    }

    fn post_message(
        &mut self,
        by: u32,
        id: u32,
        parent: Option<u32>,
        content: String,
        mentions: &[u32],
    ) -> Result<(), Breach> {
        self.agent(by)?;
        next("message", id, self.posts.len())?;
        self.posts.push(Post { agent_id: by, day: self.day, parent, content });
        let answered = parent.and_then(|p| Some((p, self.post(p)?.agent_id)));
        let answered = answered.filter(|(_, author)| *author != by);
        if let Some((parent, author)) = answered {
            self.tell(author, NewsKind::Replied { from: by, message: id, parent });
            self.contact(by, author, |c| c.replies += 1);
        }
        for agent in mentions {
            // The author of the message replied to need not be notified twice.
            if answered.is_none_or(|(_, author)| author != *agent) {
                self.tell(*agent, NewsKind::Mentioned { from: by, message: id });
            }
            self.contact(by, *agent, |c| c.mentions += 1);
        }
        Ok(())
    }

    fn close(&mut self, id: u32, passed: bool) -> Result<(), Breach> {
        let day = self.day;
        let proposal = self.proposal_mut(id)?;
        (proposal.passed, proposal.closed_on) = (Some(passed), Some(day));
        let done = matches!(proposal.kind, ProposalType::Law | ProposalType::Rule);
        proposal.done = passed && done;
        // Its author and its voters are notified; everyone sees the laws.
        let mut concerned: Vec<u32> = proposal.votes.keys().copied().collect();
        concerned.push(proposal.agent_id);
        concerned.sort_unstable();
        concerned.dedup();
        concerned.iter().for_each(|a| self.tell(*a, NewsKind::Decided { proposal: id, passed }));
        Ok(())
    }

    fn end_day(&mut self, day: u32) {
        let figures = self.figures();
        self.days.push(figures);
        for agent in self.agents.values_mut() {
            // An agent that took a turn today has seen the news that was there when the day began.
            if agent.acted_on == day {
                agent.news.retain(|news| news.day == day);
            }
        }
    }

    fn tell(&mut self, agent: u32, what: NewsKind) {
        let day = self.day;
        if let Some(agent) = self.agents.get_mut(&agent) {
            agent.news.push(News { day, what });
        }
    }

    fn contact(&mut self, from: u32, to: u32, count: impl FnOnce(&mut Contacts)) {
        count(self.contacts.entry((from, to)).or_default());
    }

    fn agent(&mut self, agent: u32) -> Result<&mut Agent, Breach> {
        self.agents.get_mut(&agent).ok_or(Breach::UnknownAgent { agent })
    }

    fn proposal_mut(&mut self, proposal: u32) -> Result<&mut Proposal, Breach> {
        let at = usize::try_from(proposal).ok().and_then(|p| p.checked_sub(1));
        let found = at.and_then(|at| self.proposals.get_mut(at));
        found.ok_or(Breach::UnknownProposal { proposal })
    }
}

impl Agent {
    fn new(personality: Personality, model: String) -> Self {
        Agent {
            personality,
            model,
            name: None,
            dormant: false,
            times_dormant: 0,
            days_dormant: 0,
            acted_on: 0,
            did: TurnCounts::default(),
            news: Vec::new(),
        }
    }
}

/// Whether a number is the next one.
fn next(what: &'static str, is: u32, so_far: usize) -> Result<(), Breach> {
    let should = u32::try_from(so_far).unwrap_or(u32::MAX).saturating_add(1);
    if is == should { Ok(()) } else { Err(Breach::OutOfOrder { what, is, should }) }
}

impl World {
    /// The current figures.
    fn figures(&self) -> DayFigures {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let active = number(self.active().count());
        let stocks: Vec<Stock> = self.agents.keys().map(|id| self.books.agent(*id)).collect();
        let over =
            |value: &dyn Fn(&Stock) -> f64| gini(&stocks.iter().map(value).collect::<Vec<f64>>());
        let [food, energy, materials] = RESOURCES.map(|r| over(&move |s| s.amount(r).number()));
        DayFigures {
            day: self.day,
            active,
            dormant: number(self.agents.len()).saturating_sub(active),
            held: self.books.holdings(),
            pool: self.books.pool(),
            gini_food: food,
            gini_energy: energy,
            gini_materials: materials,
            gini_all: over(&|s| RESOURCES.iter().map(|r| s.amount(*r).number()).sum()),
            laws: number(self.laws().count()),
            buildings: self.buildings(),
            did: self.today,
        }
    }
}
