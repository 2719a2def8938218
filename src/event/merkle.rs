//! A Merkle tree over a run's events: a proof for one event then takes a few hashes instead of the
//! whole run.
//!
//! The construction is that of RFC 6962, section 2.1, with BLAKE3 in place of SHA-256. The leaves
//! are the 32-byte hashes of the events, in order.

use crate::id::{EventHash, EventsRoot};

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
}
