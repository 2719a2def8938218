//! The rules of the world, as far as they are numbers.

use serde::{Deserialize, Serialize};

use crate::parse::{Resource, WorkType};
use crate::world::{Amount, Stock};

/// The rules. The document fixes what an agent needs a day; everything else is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// What each agent has at the beginning.
    pub start: Stock,
    /// What the common pool has at the beginning.
    pub pool: Stock,
    /// Plots of land: each farmer works one for a day, and when none is free nobody else can farm.
    pub land: u32,
    /// What an active agent needs a day: 1 food and 1 energy in the document.
    pub needs: Stock,
    /// What an hour of work brings.
    pub yields: Yields,
    /// The share of all that work brings which goes to the common pool, 0 to 1.
    pub pool_share: Amount,
    /// Votes on proposals.
    pub proposals: ProposalRules,
    /// Shared buildings.
    pub infrastructure: Infrastructure,
    /// For how many days of need a passed allocation gives from the pool to each agent who lacks.
    pub allocation_days: u32,
}

/// What an hour of work brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProposalRules {
    /// How many days a proposal is open, the one it is made on included.
    pub days: u32,
    /// The least share of all agents that must have voted, abstentions included, 0 to 1.
    pub quorum: Amount,
    /// How many open proposals an agent may have at a time.
    pub open_per_agent: u32,
}

/// Shared buildings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Infrastructure {
    /// What the pool pays for one, when it has it.
    pub materials: Amount,
    /// By how much each building raises what work brings: 0.05 is a twentieth.
    pub bonus: Amount,
}

/// A number of at most three decimals that is known to be one.
fn amount(thousandths: u32) -> Amount {
    Amount::whole(thousandths).times(Amount::exact(0.001).unwrap_or_default())
}

impl Default for Rules {
    fn default() -> Self {
        let stock = |food, energy, materials| Stock {
            food: Amount::whole(food),
            energy: Amount::whole(energy),
            materials: Amount::whole(materials),
        };
        Rules {
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

/// The kind of resource that work brings.
pub fn product(work: WorkType) -> Resource {
    match work {
        WorkType::Farm => Resource::Food,
        WorkType::Generate => Resource::Energy,
        WorkType::Gather => Resource::Materials,
    }
}

impl Rules {
    /// What some hours of work bring, where so many buildings help: an hour's yield times hours, times
    /// 1 + bonus × buildings, each product rounded down to a thousandth.
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
