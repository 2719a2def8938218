//! The end of a day, in this order: proposals close; passed proposals are carried out; agents use
//! their daily needs, or go dormant.

use std::collections::BTreeMap;

use crate::facts::Fact;
use crate::parse::ProposalType;
use crate::world::{Amount, Stock, World};

/// Closes the proposals whose last day this was. A proposal passes with more yes than no votes and
/// a quorum of votes, including abstentions.
pub fn close_proposals(world: &World) -> Vec<Fact> {
    let agents = Amount::whole(u32::try_from(world.agents.len()).unwrap_or(u32::MAX));
    let quorum = world.rules.proposals.quorum.times(agents);
    let due = world.open().filter(|(_, p)| p.last_day <= world.day);
    due.map(|(proposal_id, proposal)| {
        let (yes, no, abstain) = proposal.tally();
        let passed = yes > no && Amount::whole(yes + no + abstain) >= quorum;
        Fact::ProposalClosed { proposal_id, passed }
    })
    .collect()
}

/// Carries out passed proposals that are waiting, oldest first, as far as the pool allows.
///
/// - Infrastructure is built when the pool can pay for it.
/// - An allocation gives food and energy from the pool to agents who have less than they need for
///   `allocation_days` days: dormant ones first, then those with the least. Each is filled up to
///   that amount, until the pool is empty. It is carried out once, on the night it passed.
pub fn enact(world: &World) -> Vec<Fact> {
    let mut pool = world.books.pool();
    let mut facts = Vec::new();
    // Two allocations on the same night must not fill the same need twice.
    let mut given: BTreeMap<u32, Stock> = BTreeMap::new();
    for (proposal_id, proposal) in world.numbered_proposals() {
        if proposal.passed != Some(true) || proposal.done {
            continue;
        }
        match proposal.kind {
            ProposalType::Infrastructure => {
                let cost = world.rules.infrastructure.materials;
                if let Some(left) = pool.materials.minus(cost) {
                    pool.materials = left;
                    facts.push(Fact::Built { proposal_id });
                }
            }
            ProposalType::Allocation if proposal.closed_on == Some(world.day) => {
                share(world, proposal_id, &mut pool, &mut given, &mut facts);
            }
            _ => {}
        }
    }
    facts
}

fn share(
    world: &World,
    proposal_id: u32,
    pool: &mut Stock,
    given: &mut BTreeMap<u32, Stock>,
    facts: &mut Vec<Fact>,
) {
    let needs = world.rules.needs;
    let days = Amount::whole(world.rules.allocation_days);
    let mut needy: Vec<(bool, Amount, u32)> = world
        .agents
        .iter()
        .map(|(id, agent)| {
            let has = world.books.agent(*id);
            (!agent.dormant, has.food.plus(has.energy), *id)
        })
        .collect();
    needy.sort_unstable();
    for (active, _, agent_id) in needy {
        let got = given.entry(agent_id).or_default();
        let has = world.books.agent(agent_id).plus(got);
        let lacks = |need: Amount, has: Amount, pool: Amount| {
            need.times(days).minus(has).unwrap_or_default().min(pool)
        };
        let food = lacks(needs.food, has.food, pool.food);
        let energy = lacks(needs.energy, has.energy, pool.energy);
        if food == Amount::ZERO && energy == Amount::ZERO {
            continue;
        }
        pool.food = pool.food.minus(food).unwrap_or_default();
        pool.energy = pool.energy.minus(energy).unwrap_or_default();
        let before = has;
        let more = Stock { food, energy, materials: Amount::ZERO };
        *got = got.plus(&more);
        facts.push(Fact::PoolShared { proposal_id, agent_id, food, energy });
        if !active && !before.covers(&needs) && before.plus(&more).covers(&needs) {
            facts.push(Fact::Woke { agent_id });
        }
    }
}

/// What active agents use, and which of them lack it and go dormant.
pub fn consume(world: &World) -> Vec<Fact> {
    let needs = world.rules.needs;
    let (fed, hungry): (Vec<u32>, Vec<u32>) =
        world.active().partition(|id| world.books.agent(*id).covers(&needs));
    let mut facts = Vec::new();
    if !fed.is_empty() {
        facts.push(Fact::Consumed { agents: fed });
    }
    facts.extend(hungry.into_iter().map(|agent_id| Fact::WentDormant { agent_id }));
    facts
}
