//! The values that were read last.

use std::collections::{BTreeMap, VecDeque};

/// Values that were read last, up to a number of bytes, or of values of size 1; at least the last of them.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    most: usize,
    /// With their sizes.
    values: BTreeMap<K, (V, usize)>,
    /// The oldest first.
    order: VecDeque<K>,
    bytes: usize,
}

impl<K: Ord + Clone, V: Clone> Recent<K, V> {
    /// Keeps up to so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Recent { most, values: BTreeMap::new(), order: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.values.get(key).map(|(value, _)| value.clone())
    }

    /// Keeps a value of so many bytes, if there is none with this key.
    pub(crate) fn keep(&mut self, key: K, value: V, bytes: usize) {
        if self.values.contains_key(&key) {
            return;
        }
        self.values.insert(key.clone(), (value, bytes));
        self.order.push_back(key);
        self.bytes += bytes;
        while self.bytes > self.most
            && self.order.len() > 1
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.values.remove(&oldest).map_or(0, |(_, bytes)| bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_values_are_forgotten_but_never_the_last() {
        let mut recent = Recent::new(10);
        for n in 0..5 {
            recent.keep(n, n, 3);
        }
        recent.keep(4, 99, 3);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|n| recent.get(&n)),
            [None, None, Some(2), Some(3), Some(4)]
        );
        recent.keep(5, 5, 1000);
        assert_eq!([4, 5].map(|n| recent.get(&n)), [None, Some(5)]);
    }
}
