//! A set of seqs, with a bit for each of a block that has any.

use std::collections::BTreeMap;

use crate::id::Seq;

/// The bits of a word, and the words of a block.
const BITS: u64 = 64;
const WORDS: usize = 16;
const BLOCK: u64 = BITS * WORDS as u64;

/// A set of seqs.
#[derive(Debug, Clone, Default)]
pub(super) struct SeqSet(BTreeMap<u64, [u64; WORDS]>);

impl SeqSet {
    /// Adds one.
    pub(super) fn insert(&mut self, seq: Seq) {
        let (block, word, bit) = place(seq);
        self.0.entry(block).or_default()[word] |= bit;
    }

    /// Whether it is there.
    pub(super) fn contains(&self, seq: Seq) -> bool {
        let (block, word, bit) = place(seq);
        self.0.get(&block).is_some_and(|words| words[word] & bit != 0)
    }
}

/// Its block, the word in the block, and the bit in the word.
fn place(Seq(seq): Seq) -> (u64, usize, u64) {
    let within = seq % BLOCK;
    let word = (within / BITS) as usize;
    (seq / BLOCK, word, 1 << (within % BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_has_what_a_set_has(
            some in prop::collection::btree_set(0_u64..3000, 0..50),
        ) {
            let set = |seqs: &BTreeSet<u64>| {
                let mut set = SeqSet::default();
                seqs.iter().for_each(|seq| set.insert(Seq(*seq)));
                set
            };
            let all = set(&some);
            for seq in 0..3000 {
                prop_assert_eq!(all.contains(Seq(seq)), some.contains(&seq));
            }
        }
    }
}
