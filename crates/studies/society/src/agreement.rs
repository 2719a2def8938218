//! Measures how far personalities agree, by their votes.

use super::personality::Personality;
use super::world::World;
use crate::parse::Ballot;

/// How far two personalities agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// One personality.
    pub one: Personality,
    /// The other, which does not precede the first in the document's order; the same for agreement
    /// within one.
    pub other: Personality,
    /// Pairs of votes, yes or no, by two agents on the same proposal.
    pub pairs: u64,
    /// How many of these pairs are equal votes.
    pub same: u64,
}

impl Agreement {
    /// The share of equal votes; `None` if there are no pairs.
    pub fn share(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.same as f64 / self.pairs as f64)
    }
}

/// Yes and no votes of each personality on each proposal: (proposal, personality, yes, no).
pub(super) fn votes(world: &World) -> Vec<(u32, Personality, u64, u64)> {
    let mut rows = Vec::new();
    for (id, proposal) in world.numbered_proposals() {
        for personality in Personality::ALL {
            let of = |ballot: Ballot| {
                let cast = proposal.votes.iter().filter(|(agent, vote)| {
                    **vote == ballot
                        && world.agents.get(agent).is_some_and(|a| a.personality == personality)
                });
                cast.count() as u64
            };
            rows.push((id, personality, of(Ballot::Yes), of(Ballot::No)));
        }
    }
    rows
}

/// The agreement between each two personalities, and within each. Abstentions do not count: they
/// indicate neither agreement nor disagreement.
pub fn agreement(world: &World) -> Vec<Agreement> {
    let votes = votes(world);
    let mut rows = Vec::new();
    for (at, one) in Personality::ALL.into_iter().enumerate() {
        for other in Personality::ALL.into_iter().skip(at) {
            let (mut pairs, mut same) = (0, 0);
            for (id, _, yes, no) in votes.iter().filter(|(_, p, ..)| *p == one) {
                let theirs = votes.iter().find(|(i, p, ..)| i == id && *p == other);
                let Some((_, _, their_yes, their_no)) = theirs else { continue };
                if one == other {
                    let of = |n: u64| n * n.saturating_sub(1) / 2;
                    pairs += of(yes + no);
                    same += of(*yes) + of(*no);
                } else {
                    pairs += (yes + no) * (their_yes + their_no);
                    same += yes * their_yes + no * their_no;
                }
            }
            rows.push(Agreement { one, other, pairs, same });
        }
    }
    rows
}
