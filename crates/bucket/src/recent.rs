//! The values that were read last.

/// Values that were read last, up to a number of bytes; at least the last of them.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    most: usize,
    /// With their sizes; the oldest first.
    values: Vec<(K, V, usize)>,
    bytes: usize,
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    /// Keeps up to so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Recent { most, values: Vec::new(), bytes: 0 }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.values.iter().find(|(of, ..)| of == key).map(|(_, value, _)| value.clone())
    }

    /// Keeps a value of so many bytes.
    pub(crate) fn keep(&mut self, key: K, value: V, bytes: usize) {
        if let Some(at) = self.values.iter().position(|(of, ..)| *of == key) {
            self.remove(at);
        }
        self.bytes += bytes;
        self.values.push((key, value, bytes));
        while self.bytes > self.most && self.values.len() > 1 {
            self.remove(0);
        }
    }

    fn remove(&mut self, at: usize) {
        let (.., bytes) = self.values.remove(at);
        self.bytes -= bytes;
    }
}
