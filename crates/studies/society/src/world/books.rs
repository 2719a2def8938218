//! Accounts with double entry, so that nothing appears or vanishes.
//!
//! Every movement adds to one account what it takes from another. The beginning, work and use are
//! also accounts: the amount at the start plus the amount produced, minus the amount used, equals
//! what agents and pool have.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amount::Amount;
use super::breach::Breach;
use crate::parse::Resource;

/// An amount of each resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stock {
    /// Food.
    pub food: Amount,
    /// Energy.
    pub energy: Amount,
    /// Materials.
    pub materials: Amount,
}

/// All resources.
pub const RESOURCES: [Resource; 3] = [Resource::Food, Resource::Energy, Resource::Materials];

impl Stock {
    /// The amount of one resource.
    pub fn amount(&self, resource: Resource) -> Amount {
        match resource {
            Resource::Food => self.food,
            Resource::Energy => self.energy,
            Resource::Materials => self.materials,
        }
    }

    fn of_mut(&mut self, resource: Resource) -> &mut Amount {
        match resource {
            Resource::Food => &mut self.food,
            Resource::Energy => &mut self.energy,
            Resource::Materials => &mut self.materials,
        }
    }

    /// The sum, resource by resource.
    #[must_use]
    pub fn plus(mut self, other: &Stock) -> Stock {
        RESOURCES.iter().for_each(|r| self.add(*r, other.amount(*r)));
        self
    }

    /// With an additional amount of one resource.
    #[must_use]
    pub fn with(mut self, resource: Resource, more: Amount) -> Stock {
        self.add(resource, more);
        self
    }

    /// Whether there is at least as much of every resource.
    pub fn covers(&self, other: &Stock) -> bool {
        RESOURCES.iter().all(|r| self.amount(*r) >= other.amount(*r))
    }

    fn add(&mut self, resource: Resource, amount: Amount) {
        let place = self.of_mut(resource);
        *place = place.plus(amount);
    }

    fn take(&mut self, who: &str, resource: Resource, amount: Amount) -> Result<(), Breach> {
        let place = self.of_mut(resource);
        let left = place.minus(amount).ok_or_else(|| Breach::Lacking {
            who: who.to_owned(),
            has: *place,
            resource: name_of(resource),
            amount,
        })?;
        *place = left;
        Ok(())
    }
}

/// Sources of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceSource {
    /// The supply at the beginning, which never runs out.
    Start,
    /// Work, which never runs out either.
    Work,
    /// An agent.
    Agent(u32),
    /// The common pool.
    Pool,
}

impl fmt::Display for ResourceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResourceSource::Start => f.write_str("the beginning"),
            ResourceSource::Work => f.write_str("work"),
            ResourceSource::Agent(agent) => write!(f, "agent {agent}"),
            ResourceSource::Pool => f.write_str("the pool"),
        }
    }
}

/// Destinations of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceTarget {
    /// An agent.
    Agent(u32),
    /// The common pool.
    Pool,
    /// Use: what is eaten, burnt or built.
    Use,
}

/// All accounts.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Books {
    agents: BTreeMap<u32, Stock>,
    pool: Stock,
    start: Stock,
    produced: Stock,
    used: Stock,
}

impl Books {
    /// Opens an agent's account with a balance of zero.
    pub(super) fn open(&mut self, agent: u32) {
        self.agents.entry(agent).or_default();
    }

    /// What an agent has.
    pub fn agent(&self, agent: u32) -> Stock {
        self.agents.get(&agent).copied().unwrap_or_default()
    }

    /// What the common pool has.
    pub fn pool(&self) -> Stock {
        self.pool
    }

    /// What agents and pool received at the beginning.
    pub fn start(&self) -> Stock {
        self.start
    }

    /// The total production.
    pub fn production(&self) -> Stock {
        self.produced
    }

    /// The total use.
    pub fn consumption(&self) -> Stock {
        self.used
    }

    /// What all agents have, without the pool.
    pub fn holdings(&self) -> Stock {
        self.agents.values().fold(Stock::default(), Stock::plus)
    }

    /// The total, including the pool.
    pub fn total(&self) -> Stock {
        self.holdings().plus(&self.pool)
    }

    /// Moves an amount; if that is not possible, returns the reason and changes nothing.
    pub(super) fn transfer(
        &mut self,
        from: ResourceSource,
        to: ResourceTarget,
        resource: Resource,
        amount: Amount,
    ) -> Result<(), Breach> {
        if let ResourceTarget::Agent(agent) = to
            && !self.agents.contains_key(&agent)
        {
            return Err(Breach::UnknownAgent { agent });
        }
        match from {
            ResourceSource::Start => self.start.add(resource, amount),
            ResourceSource::Work => self.produced.add(resource, amount),
            ResourceSource::Agent(agent) => {
                let stock = self.agents.get_mut(&agent).ok_or(Breach::UnknownAgent { agent })?;
                stock.take(&from.to_string(), resource, amount)?;
            }
            ResourceSource::Pool => self.pool.take(&from.to_string(), resource, amount)?,
        }
        match to {
            ResourceTarget::Agent(agent) => self.agents.entry(agent).or_default(),
            ResourceTarget::Pool => &mut self.pool,
            ResourceTarget::Use => &mut self.used,
        }
        .add(resource, amount);
        Ok(())
    }

    /// Moves several resources at once, all or none.
    pub(super) fn transfer_stock(
        &mut self,
        from: ResourceSource,
        to: ResourceTarget,
        stock: &Stock,
    ) -> Result<(), Breach> {
        // Tried on a copy of the giver's account first, so that a lack of the last resource changes
        // nothing.
        let trial = match from {
            ResourceSource::Start | ResourceSource::Work => None,
            ResourceSource::Agent(agent) => Some(self.agent(agent)),
            ResourceSource::Pool => Some(self.pool),
        };
        if let Some(mut trial) = trial {
            let who = from.to_string();
            RESOURCES.iter().try_for_each(|r| trial.take(&who, *r, stock.amount(*r)))?;
        }
        RESOURCES.iter().try_for_each(|r| self.transfer(from, to, *r, stock.amount(*r)))
    }

    /// Whether the total equals what was given and produced, minus what was used.
    pub fn check(&self) -> Result<(), Breach> {
        let total = self.total();
        for resource in RESOURCES {
            let (is, produced) = (total.amount(resource), self.produced.amount(resource));
            let (start, used) = (self.start.amount(resource), self.used.amount(resource));
            if start.plus(produced).minus(used) != Some(is) {
                let resource = name_of(resource);
                return Err(Breach::Unbalanced { resource, is, start, produced, used });
            }
        }
        Ok(())
    }
}

/// A resource's name in actions and tables.
pub fn name_of(resource: Resource) -> &'static str {
    match resource {
        Resource::Food => "food",
        Resource::Energy => "energy",
        Resource::Materials => "materials",
    }
}
