//! A text in 16 bytes, for tables that have an entry for each call of a long run.

use retold::prompt::hash_of;

/// The first half of a text's BLAKE3 hash: finding two texts that share it takes some 2^64 attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digest(u128);

impl Digest {
    /// That of a text.
    pub(crate) fn new(text: &str) -> Self {
        let mut half = [0; 16];
        half.copy_from_slice(&hash_of(text.as_bytes())[..16]);
        Digest(u128::from_be_bytes(half))
    }
}
