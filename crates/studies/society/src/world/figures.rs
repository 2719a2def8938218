//! Figures of a day.

use serde::Serialize;

use super::books::Stock;

/// The number of turns of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TurnCounts {
    /// Forum posts.
    pub posts: u32,
    /// Forum replies.
    pub replies: u32,
    /// Direct messages.
    pub messages: u32,
    /// Proposals.
    pub proposals: u32,
    /// Votes.
    pub votes: u32,
    /// Days of work.
    pub work: u32,
    /// Trades.
    pub trades: u32,
    /// Names taken.
    pub names: u32,
    /// Turns without an action.
    pub idle: u32,
    /// Invalid actions.
    pub invalid: u32,
    /// Calls that failed.
    pub unanswered: u32,
}

impl TurnCounts {
    /// Each count with its name, in the order of tables.
    pub fn each(&mut self) -> [(&'static str, &mut u32); 11] {
        let TurnCounts {
            posts,
            replies,
            messages,
            proposals,
            votes,
            work,
            trades,
            names,
            idle,
            invalid,
            unanswered,
        } = self;
        [
            ("posts", posts),
            ("replies", replies),
            ("messages", messages),
            ("proposals", proposals),
            ("votes", votes),
            ("work", work),
            ("trades", trades),
            ("names", names),
            ("idle", idle),
            ("invalid", invalid),
            ("unanswered", unanswered),
        ]
    }
}

/// The figures at the end of a day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DayFigures {
    /// From 1.
    pub day: u32,
    /// Agents who can act on the next day.
    pub active: u32,
    /// Agents who cannot.
    pub dormant: u32,
    /// The stock of all agents together, without the pool.
    pub held: Stock,
    /// The stock of the pool.
    pub pool: Stock,
    /// Gini coefficient of food over agents, 0 to 1.
    pub gini_food: f64,
    /// Of energy.
    pub gini_energy: f64,
    /// Of materials.
    pub gini_materials: f64,
    /// Of the sum of the three.
    pub gini_all: f64,
    /// Laws and rules in force.
    pub laws: u32,
    /// The number of buildings.
    pub buildings: u32,
    /// The turns of the day, by kind.
    pub did: TurnCounts,
}

/// The Gini coefficient of what people have: 0 if all have the same, near 1 if one person has
/// everything. It is `2 Σ i x(i) / (n Σ x) - (n + 1) / n` over the sorted values, with i from 1; 0
/// if there is nothing.
pub fn gini(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (n, sum) = (sorted.len() as f64, sorted.iter().sum::<f64>());
    if sum <= 0.0 {
        return 0.0;
    }
    let weighted: f64 = (1_u32..).zip(&sorted).map(|(i, x)| f64::from(i) * x).sum();
    (2.0 * weighted / (n * sum) - (n + 1.0) / n).max(0.0)
}
