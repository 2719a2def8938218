//! A Merkle tree over a run's events: a proof for one event then takes a few hashes instead of the
//! whole run.
//!
//! The construction is that of RFC 6962, section 2.1, with BLAKE3 in place of SHA-256. The leaves
//! are the 32-byte hashes of the events, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::id::{EventHash, EventsRoot, MerkleNode};

/// Prefixes of a leaf and of a pair of nodes, so that neither can be taken for the other.
const LEAF: u8 = 0;
const NODE: u8 = 1;

/// A tree that grows: it keeps the roots of its complete subtrees, largest first.
#[derive(Debug, Clone, Default)]
pub struct MerkleTree {
    subtrees: Vec<[u8; 32]>,
    leaves: u64,
}

impl MerkleTree {
    /// Adds the next event.
    pub fn push(&mut self, event: EventHash) {
        let mut node = hash(&[&[LEAF], &event.0]);
        // One subtree is completed for each trailing one bit in the number of leaves so far.
        for _ in 0..self.leaves.trailing_ones() {
            let Some(left) = self.subtrees.pop() else { break };
            node = hash(&[&[NODE], &left, &node]);
        }
        self.subtrees.push(node);
        self.leaves += 1;
    }

    /// How many events it has.
    pub fn len(&self) -> u64 {
        self.leaves
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.leaves == 0
    }

    /// The root.
    pub fn root(&self) -> EventsRoot {
        let join = |right: [u8; 32], left: &[u8; 32]| hash(&[&[NODE], left, &right]);
        let mut subtrees = self.subtrees.iter().rev();
        EventsRoot(match subtrees.next() {
            Some(smallest) => subtrees.fold(*smallest, join),
            None => hash(&[]),
        })
    }
}

/// The root of the tree over some events, and for each of the wanted ones, by its place from 0, the
/// nodes that lead from it to the root (RFC 6962, section 2.1.1).
pub fn inclusion_paths(
    events: &[EventHash],
    wanted: &BTreeSet<usize>,
) -> (EventsRoot, BTreeMap<usize, Vec<MerkleNode>>) {
    let mut paths = wanted.range(..events.len()).map(|place| (*place, Vec::new())).collect();
    let root = subtree(events, 0..events.len(), &mut paths);
    (EventsRoot(root), paths)
}

/// The root of the subtree over a range of events; extends the paths of those that are in it.
fn subtree(
    events: &[EventHash],
    range: Range<usize>,
    paths: &mut BTreeMap<usize, Vec<MerkleNode>>,
) -> [u8; 32] {
    match &events[range.clone()] {
        [] => hash(&[]),
        [leaf] => hash(&[&[LEAF], &leaf.0]),
        several => {
            // The largest power of two that is less than their number.
            let split = range.start + (several.len().next_power_of_two() >> 1);
            let (left, right) = (range.start..split, split..range.end);
            let left_root = subtree(events, left.clone(), paths);
            let right_root = subtree(events, right.clone(), paths);
            let mut extend = |range, sibling| {
                for (_, path) in paths.range_mut(range) {
                    path.push(MerkleNode(sibling));
                }
            };
            extend(left, right_root);
            extend(right, left_root);
            hash(&[&[NODE], &left_root, &right_root])
        }
    }
}

/// The root that a path leads to from an event at a place, from 0, among so many (RFC 9162, section
/// 2.1.3.2); `None` if the path is too short or too long.
pub fn root_at_end(
    event: EventHash,
    place: u64,
    events: u64,
    path: &[MerkleNode],
) -> Option<EventsRoot> {
    let (mut here, mut last) = (place, events.checked_sub(1)?);
    if here > last {
        return None;
    }
    let mut node = hash(&[&[LEAF], &event.0]);
    for sibling in path {
        if last == 0 {
            return None;
        }
        if here % 2 == 1 || here == last {
            node = hash(&[&[NODE], &sibling.0, &node]);
            while here % 2 == 0 && here != 0 {
                (here, last) = (here >> 1, last >> 1);
            }
        } else {
            node = hash(&[&[NODE], &node, &sibling.0]);
        }
        (here, last) = (here >> 1, last >> 1);
    }
    (last == 0).then_some(EventsRoot(node))
}

fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of RFC 6962, as it is written there.
    fn defined(leaves: &[EventHash]) -> [u8; 32] {
        match leaves {
            [] => *blake3::hash(b"").as_bytes(),
            [leaf] => *blake3::hash(&[&[0], &leaf.0[..]].concat()).as_bytes(),
            _ => {
                let mut k = 1;
                while 2 * k < leaves.len() {
                    k *= 2;
                }
                let (left, right) = leaves.split_at(k);
                let both = [&[1], &defined(left)[..], &defined(right)[..]].concat();
                *blake3::hash(&both).as_bytes()
            }
        }
    }

    #[test]
    fn a_growing_tree_has_the_root_that_the_rfc_defines() {
        let mut tree = MerkleTree::default();
        let mut leaves = Vec::new();
        for n in 0..200_u64 {
            assert_eq!(tree.root().0, defined(&leaves), "{n} leaves");
            assert_eq!((tree.len(), tree.is_empty()), (n, n == 0));
            let leaf = EventHash(*blake3::hash(&n.to_le_bytes()).as_bytes());
            leaves.push(leaf);
            tree.push(leaf);
        }
    }

    #[test]
    fn each_event_has_a_path_to_the_root_and_no_other_event_has_it() {
        let leaves: Vec<_> =
            (0..70_u64).map(|n| EventHash(*blake3::hash(&n.to_le_bytes()).as_bytes())).collect();
        for count in 1..=leaves.len() {
            let leaves = &leaves[..count];
            let (root, paths) = inclusion_paths(leaves, &(0..count).collect());
            assert_eq!(root.0, defined(leaves), "{count} leaves");
            for (place, path) in paths {
                let (at, of) = (place as u64, count as u64);
                assert_eq!(root_at_end(leaves[place], at, of, &path), Some(root));
                let other = leaves[(place + 1) % count];
                assert!(count == 1 || root_at_end(other, at, of, &path) != Some(root));
                assert_eq!(root_at_end(leaves[place], of, of, &path), None);
                let longer = [&path[..], &[MerkleNode([0; 32])]].concat();
                assert_eq!(root_at_end(leaves[place], at, of, &longer), None);
                if let Some((_, shorter)) = path.split_last() {
                    assert_eq!(root_at_end(leaves[place], at, of, shorter), None);
                }
            }
        }
    }
}
