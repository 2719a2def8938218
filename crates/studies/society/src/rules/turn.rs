//! The consequences of an agent's action, or why the world forbids it.

use super::forbidden::Forbidden;
use crate::facts::Fact;
use crate::parse::{Action, ProposalType, Resource, WorkType};
use crate::world::{Amount, World, name_of};

/// The facts of an action of an agent, in order. Forbidden actions change nothing.
///
/// # Errors
/// [`Forbidden`] with the reason.
pub fn turn(world: &World, agent_id: u32, action: &Action) -> Result<Vec<Fact>, Forbidden> {
    let agent = world.agents.get(&agent_id).ok_or(Forbidden::NobodyActs(agent_id))?;
    if agent.dormant {
        return Err(Forbidden::Dormant);
    }
    if agent.acted_on == world.day {
        return Err(Forbidden::Acted);
    }
    let next = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
    let fact = match action {
        Action::ForumPost { content } => Fact::ForumPosted {
            agent_id,
            message_id: next(world.posts.len()),
            content: content.clone(),
            mentions: world.mentions(agent_id, content),
        },
        Action::ForumReply { parent_message_id, content } => {
            let parent = u32::try_from(*parent_message_id).ok();
            let parent = parent.filter(|id| world.post(*id).is_some());
            Fact::ForumReplied {
                agent_id,
                message_id: next(world.posts.len()),
                parent_message_id: parent.ok_or(Forbidden::NoMessage(*parent_message_id))?,
                content: content.clone(),
                mentions: world.mentions(agent_id, content),
            }
        }
        Action::DirectMessage { recipient_agent_id, content } => Fact::MessageSent {
            agent_id,
            recipient_agent_id: other(world, agent_id, *recipient_agent_id, "write to")?,
            content: content.clone(),
        },
        Action::CreateProposal { title, description, proposal_type } => {
            propose(world, agent_id, title, description, *proposal_type)?
        }
        Action::Vote { proposal_id, vote, reasoning: _ } => {
            let id = u32::try_from(*proposal_id).ok();
            let found = id.and_then(|id| Some((id, world.proposal(id)?)));
            let (id, proposal) = found.ok_or(Forbidden::NoProposal(*proposal_id))?;
            if proposal.passed.is_some() {
                return Err(Forbidden::Closed(id));
            }
            if proposal.votes.contains_key(&agent_id) {
                return Err(Forbidden::Voted(id));
            }
            Fact::VoteCast { agent_id, proposal_id: id, vote: *vote }
        }
        Action::Work { work_type, hours } => work(world, agent_id, *work_type, *hours)?,
        Action::Trade { recipient_agent_id, resource_type, amount } => {
            return trade(world, agent_id, *recipient_agent_id, *resource_type, *amount);
        }
        Action::SetName { display_name } => name(world, agent_id, display_name)?,
        Action::Idle { reasoning: _ } => Fact::Idled { agent_id },
        Action::Rejected { reason, .. } => return Err(Forbidden::Rejected(reason.clone())),
    };
    Ok(vec![fact])
}

/// Another agent, which must exist.
fn other(world: &World, agent: u32, id: i64, what: &'static str) -> Result<u32, Forbidden> {
    let known = u32::try_from(id).ok().filter(|id| world.agents.contains_key(id));
    let known = known.ok_or(Forbidden::NoAgent(id))?;
    if known == agent { Err(Forbidden::Oneself(what)) } else { Ok(known) }
}

fn propose(
    world: &World,
    agent_id: u32,
    title: &str,
    description: &str,
    proposal_type: ProposalType,
) -> Result<Fact, Forbidden> {
    let rules = &world.rules.proposals;
    let (most, has) =
        (rules.open_per_agent, world.open().filter(|(_, p)| p.agent_id == agent_id).count());
    if u32::try_from(has).unwrap_or(u32::MAX) >= most {
        return Err(Forbidden::ManyProposals { most, has });
    }
    Ok(Fact::ProposalCreated {
        agent_id,
        proposal_id: u32::try_from(world.proposals.len()).unwrap_or(u32::MAX).saturating_add(1),
        title: title.to_owned(),
        description: description.to_owned(),
        proposal_type,
        last_day: world.day.saturating_add(rules.days.saturating_sub(1)),
    })
}

fn work(world: &World, agent_id: u32, work_type: WorkType, hours: u8) -> Result<Fact, Forbidden> {
    if !(1..=8).contains(&hours) {
        return Err(Forbidden::Hours(hours));
    }
    if work_type == WorkType::Farm && world.free_land() == 0 {
        return Err(Forbidden::NoLand(world.rules.land));
    }
    let all = world.rules.produce(work_type, hours, world.buildings());
    let pooled = all.times(world.rules.pool_share);
    let kept = all.minus(pooled).unwrap_or_default();
    Ok(Fact::Worked { agent_id, work_type, hours, kept, pooled })
}

fn trade(
    world: &World,
    agent_id: u32,
    recipient: i64,
    resource_type: Resource,
    number: f64,
) -> Result<Vec<Fact>, Forbidden> {
    let recipient_agent_id = other(world, agent_id, recipient, "trade with")?;
    let amount = Amount::exact(number).filter(|a| *a > Amount::ZERO);
    let has = world.books.agent(agent_id).amount(resource_type);
    let lacking = Forbidden::Lacking { has, amount: number, resource: name_of(resource_type) };
    let amount = match amount {
        Some(amount) if amount > has => return Err(lacking),
        Some(amount) => amount,
        // An amount too large to be represented is too much in any case.
        None if number > has.number() + 1.0 => return Err(lacking),
        None => return Err(Forbidden::Amount(number)),
    };
    let mut facts = vec![Fact::Traded { agent_id, recipient_agent_id, resource_type, amount }];
    facts.extend(wakes(world, recipient_agent_id, resource_type, amount));
    Ok(facts)
}

/// The fact that a dormant agent wakes, if an additional amount of a resource gives it enough for a
/// day.
fn wakes(world: &World, agent_id: u32, resource: Resource, more: Amount) -> Option<Fact> {
    let agent = world.agents.get(&agent_id)?;
    let has = world.books.agent(agent_id).with(resource, more);
    (agent.dormant && has.covers(&world.rules.needs)).then_some(Fact::Woke { agent_id })
}

fn name(world: &World, agent_id: u32, wanted: &str) -> Result<Fact, Forbidden> {
    let display_name = wanted.trim().to_owned();
    if display_name.is_empty() || display_name.chars().any(char::is_control) {
        return Err(Forbidden::BadName);
    }
    let same = |other: &str| other.to_lowercase() == display_name.to_lowercase();
    let others = world.agents.iter().filter(|(id, _)| **id != agent_id);
    for (id, other) in others {
        if same(&format!("Agent #{id}")) || other.name.as_deref().is_some_and(same) {
            return Err(Forbidden::NameTaken(display_name));
        }
    }
    Ok(Fact::NameTaken { agent_id, display_name })
}
