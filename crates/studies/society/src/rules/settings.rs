//! The numeric rules of the world.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{Resource, WorkType};
use crate::world::{Amount, Stock};

/// The rules. The document only specifies what an agent needs per day; everything else is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SocietyRules {
    /// What each agent has at the beginning.
    pub start: Stock,
    /// What the common pool has at the beginning.
    pub pool: Stock,
    /// Plots of land: each farmer uses one for a day, and when none is free, nobody else can farm.
    pub land: u32,
    /// What an active agent needs per day: 1 food and 1 energy in the document.
    pub needs: Stock,
    /// What an hour of work yields.
    pub yields: Yields,
    /// The share of all work that goes to the common pool, from 0 to 1.
    pub pool_share: Amount,
    /// Votes on proposals.
    pub proposals: ProposalRules,
    /// Shared buildings.
    pub infrastructure: Infrastructure,
    /// The number of days for which a passed allocation provides each agent in need from the pool.
    pub allocation_days: u32,
}

/// What an hour of work yields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Yields {
    /// Food.
    pub farm: Amount,
    /// Energy.
    pub generate: Amount,
    /// Materials.
    pub gather: Amount,
}

/// Votes on proposals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProposalRules {
    /// How many days a proposal is open, including the day it is made.
    pub days: u32,
    /// The minimum share of all agents that must vote, including abstentions, from 0 to 1.
    pub quorum: Amount,
    /// How many open proposals an agent may have at a time.
    pub open_per_agent: u32,
}

/// Shared buildings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Infrastructure {
    /// The materials that the pool pays for one.
    pub materials: Amount,
    /// By how much each building raises the yield of work: 0.05 is a twentieth.
    pub bonus: Amount,
}

/// A number that is known to have at most three decimals.
fn amount(thousandths: u32) -> Amount {
    Amount::whole(thousandths).times(Amount::exact(0.001).unwrap_or_default())
}

impl Default for SocietyRules {
    fn default() -> Self {
        let stock = |food, energy, materials| Stock {
            food: Amount::whole(food),
            energy: Amount::whole(energy),
            materials: Amount::whole(materials),
        };
        SocietyRules {
            start: stock(5, 5, 0),
            pool: stock(100, 100, 40),
            land: 60,
            needs: stock(1, 1, 0),
            yields: Yields::default(),
            pool_share: amount(100),
            proposals: ProposalRules::default(),
            infrastructure: Infrastructure::default(),
            allocation_days: 3,
        }
    }
}

impl Default for Yields {
    fn default() -> Self {
        Yields { farm: amount(750), generate: amount(750), gather: amount(500) }
    }
}

impl Default for ProposalRules {
    fn default() -> Self {
        ProposalRules { days: 3, quorum: amount(100), open_per_agent: 1 }
    }
}

impl Default for Infrastructure {
    fn default() -> Self {
        Infrastructure { materials: Amount::whole(20), bonus: amount(50) }
    }
}

/// The resource that a kind of work yields.
pub fn product(work: WorkType) -> Resource {
    match work {
        WorkType::Farm => Resource::Food,
        WorkType::Generate => Resource::Energy,
        WorkType::Gather => Resource::Materials,
    }
}

impl SocietyRules {
    /// The yield of some hours of work with a number of buildings: an hour's yield times hours,
    /// times 1 + bonus × buildings, with each product rounded down to a thousandth.
    pub fn produce(&self, work: WorkType, hours: u8, buildings: u32) -> Amount {
        let hour = match work {
            WorkType::Farm => self.yields.farm,
            WorkType::Generate => self.yields.generate,
            WorkType::Gather => self.yields.gather,
        };
        let bonus = self.infrastructure.bonus.times(Amount::whole(buildings));
        hour.times(Amount::whole(u32::from(hours))).times(Amount::ONE.plus(bonus))
    }
}
