//! Hash tables for lookups only. Their order differs between runs, so they cannot be iterated.

use std::hash::Hash;

/// A map that only supports lookups.
#[derive(Debug, Clone)]
#[expect(clippy::disallowed_types, reason = "this wrapper offers no iteration")]
pub(crate) struct LookupMap<K, V>(std::collections::HashMap<K, V, foldhash::fast::RandomState>);

impl<K: Hash + Eq, V> LookupMap<K, V> {
    /// The value of a key.
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.0.get(key)
    }

    /// Sets the value of a key and returns the old one.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// Removes a key and returns its value.
    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.0.remove(key)
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How many keys each of two generations of [`Recent`] has.
pub(crate) const REMEMBERED: usize = 4096;

/// The entries inserted last: at least [`REMEMBERED`] keys, and at most twice as many.
#[derive(Debug, Clone)]
pub(crate) struct Recent<K, V> {
    new: LookupMap<K, V>,
    old: LookupMap<K, V>,
}

impl<K: Hash + Eq, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent { new: LookupMap::default(), old: LookupMap::default() }
    }
}

impl<K: Hash + Eq, V> Recent<K, V> {
    /// The value of a key, if it is remembered.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.new.get(key).or_else(|| self.old.get(key))
    }

    /// Remembers the value of a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.new.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(key, value);
    }
}

/// A set that only supports membership tests.
#[derive(Debug, Clone)]
pub(crate) struct LookupSet<K>(LookupMap<K, ()>);

impl<K: Hash + Eq> LookupSet<K> {
    /// Whether the key is there.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.0.get(key).is_some()
    }

    /// Adds a key and returns whether it is new.
    pub(crate) fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K> Default for LookupSet<K> {
    fn default() -> Self {
        LookupSet(LookupMap::default())
    }
}

impl<K, V> Default for LookupMap<K, V> {
    fn default() -> Self {
        LookupMap(Default::default())
    }
}
