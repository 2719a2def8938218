//! Things that many rows share, each once.

use std::collections::BTreeMap;

/// Things with a key, numbered in the order in which they came. Of those with one key, the first is kept.
#[derive(Debug)]
pub(super) struct Numbered<K, T> {
    numbers: BTreeMap<K, u32>,
    all: Vec<T>,
}

impl<K, T> Default for Numbered<K, T> {
    fn default() -> Self {
        Numbered { numbers: BTreeMap::new(), all: Vec::new() }
    }
}

impl<K: Ord, T> Numbered<K, T> {
    /// The number of a thing, which is added if its key is new.
    pub(super) fn add(&mut self, key: K, thing: T) -> u32 {
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let all = &mut self.all;
        *self.numbers.entry(key).or_insert_with(|| {
            all.push(thing);
            next
        })
    }

    /// The number of a key that is there.
    pub(super) fn find(&self, key: &K) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// A thing by its number.
    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.all.get(usize::try_from(number).ok()?)
    }

    /// All keys, in their order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.numbers.keys()
    }
}
