//! The rules of a round: pure arithmetic, in the order in which the original program computes, so
//! that every number in its logs is reproduced to the last bit.
//!
//! - The public fund is the sum of all contributions times the multiplier, divided evenly among
//!   those who contributed to the round.
//! - In a round, a player earns the endowment minus the contribution plus the share, rounded to two
//!   decimals, like the changes due to units. Units are paid for from that, not from what earlier
//!   rounds earned; if a player cannot pay for all of them, every number is scaled down by the same
//!   factor and its fraction is dropped.
//! - A unit of punishment takes `impact` from its target, a unit of reward gives it. A round's
//!   earnings can be negative.
//!
//! Source: the original runs' `game_log.csv` and `redistribution_details.csv`, all of whose 472 and
//! 1,419 rows follow from these rules. The source document only has the multiplier (MPCR x group
//! size).

use serde::{Deserialize, Serialize};

use super::config::Config;

/// The effect of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncentiveKind {
    /// It takes coins from its target.
    Punishment,
    /// It gives coins to its target.
    Reward,
}

/// The cost and effect of a unit, in coins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Incentive {
    /// Punishment or reward.
    pub kind: IncentiveKind,
    /// The actor's cost.
    pub cost: f64,
    /// The target's loss or gain.
    pub impact: f64,
}

impl Incentive {
    /// The change for the target of a number of units.
    pub fn effect(&self, units: i64) -> f64 {
        let impact = units as f64 * self.impact;
        match self.kind {
            IncentiveKind::Punishment => -impact,
            IncentiveKind::Reward => impact,
        }
    }
}

/// The rules with their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct GameRules {
    /// Coins per round.
    pub endowment: i64,
    /// The factor by which the public fund is multiplied.
    pub multiplier: f64,
    /// Empty without redistribution, one with it; two in some original runs, in which one number of
    /// units meant both.
    pub incentives: Vec<Incentive>,
}

/// The units of one player for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// The number of the player who pays.
    pub actor: u32,
    /// The number of the player who is punished or rewarded.
    pub target: u32,
    /// As decided.
    pub decided: i64,
    /// As many as the actor could pay for.
    pub actual: i64,
}

/// The results of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// All contributions, multiplied.
    pub public_fund: f64,
    /// What each player earned, in the order of the contributions.
    pub payoffs: Vec<f64>,
}

impl GameRules {
    /// The rules of a config.
    pub fn new(config: &Config) -> GameRules {
        let kinds = [
            (
                IncentiveKind::Punishment,
                config.punishment_enabled,
                config.punishment_cost(),
                config.punishment_impact,
            ),
            (
                IncentiveKind::Reward,
                config.reward_enabled,
                config.reward_cost(),
                config.reward_impact,
            ),
        ];
        let enabled = kinds.into_iter().filter(|(_, enabled, ..)| *enabled);
        let incentives = enabled.map(|(kind, _, cost, impact)| Incentive {
            kind,
            // A config whose kind is enabled has a price.
            cost: cost.unwrap_or(0.0),
            impact,
        });
        GameRules {
            endowment: config.endowment.into(),
            multiplier: config.multiplier(),
            incentives: incentives.collect(),
        }
    }

    /// The public fund of some contributions.
    pub fn public_fund(&self, contributions: &[i64]) -> f64 {
        contributions.iter().sum::<i64>() as f64 * self.multiplier
    }

    /// Each player's share of the public fund.
    pub fn share(&self, contributions: &[i64]) -> f64 {
        self.public_fund(contributions) / contributions.len().max(1) as f64
    }

    /// The amount that a player has after the contributions to pay for units, to two decimals.
    pub fn before_redistribution(&self, own: i64, contributions: &[i64]) -> f64 {
        two_decimals((self.endowment - own) as f64 + self.share(contributions))
    }

    /// How many of the units decided on a player can pay for, and whether they had to be scaled
    /// down.
    pub fn affordable(&self, decided: &[i64], budget: f64) -> (Vec<i64>, bool) {
        let units: f64 = decided.iter().map(|units| *units as f64).sum();
        let cost: f64 = self.incentives.iter().map(|incentive| units * incentive.cost).sum();
        if cost <= budget {
            return (decided.to_vec(), false);
        }
        let factor = budget / cost;
        #[expect(clippy::cast_possible_truncation, reason = "the fraction is cut off on purpose")]
        let scaled = decided.iter().map(|units| (*units as f64 * factor) as i64).collect();
        (scaled, true)
    }

    /// The results of the round. Contributions are pairs of player and coins.
    pub fn settle(&self, contributions: &[(u32, i64)], units: &[Units]) -> Settlement {
        let coins: Vec<i64> = contributions.iter().map(|(_, coins)| *coins).collect();
        let mut changes = vec![0.0; coins.len()];
        let mut change = |player: u32, by: f64| {
            if let Some(at) = contributions.iter().position(|(agent, _)| *agent == player) {
                changes[at] += by;
            }
        };
        for incentive in &self.incentives {
            for Units { actor, target, actual, .. } in units.iter().filter(|u| u.actual > 0) {
                change(*actor, -(*actual as f64 * incentive.cost));
                change(*target, incentive.effect(*actual));
            }
        }
        let payoffs = coins
            .iter()
            .zip(changes)
            .map(|(own, change)| self.before_redistribution(*own, &coins) + two_decimals(change))
            .collect();
        Settlement { public_fund: self.public_fund(&coins), payoffs }
    }
}

/// The nearest number with two decimals. In a tie, the even one, as in Python.
fn two_decimals(value: f64) -> f64 {
    format!("{value:.2}").parse().unwrap_or(value)
}
