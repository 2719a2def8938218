//! A vector as the outputs have it.

use serde::{Serialize, Serializer};

use retold_study::floats::HashedVector;

/// A vector that prints its floats as 64-bit numbers of the same value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vector<'a>(pub(super) &'a HashedVector);

impl Serialize for Vector<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.floats().iter().map(|x| f64::from(*x)))
    }
}
