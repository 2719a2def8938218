//! The number of independent answers to each puzzle.

use std::fmt;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use retold_study::config::Wrong;

/// The most answers to a puzzle.
const MOST: u32 = 1_000_000;

/// The word for as many as there are.
const RECORDED: &str = "recorded";

/// The number of answers to each puzzle: a number, a list of numbers, or the word `recorded`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// The same number for each puzzle.
    Each(u32),
    /// One number per puzzle, in order.
    ByPuzzle(Vec<u32>),
    /// As many for each as the file of answers has. Only in a config: the settings of a run have
    /// the numbers.
    Recorded,
}

impl Serialize for Samples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Samples::Each(n) => n.serialize(serializer),
            Samples::ByPuzzle(list) => list.serialize(serializer),
            Samples::Recorded => RECORDED.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SamplesReader)
    }
}

/// Reads all three forms.
struct SamplesReader;

impl<'de> Visitor<'de> for SamplesReader {
    type Value = Samples;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, a list with one for each puzzle, or \"recorded\"")
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Samples, E> {
        let small = u32::try_from(n);
        small.map(Samples::Each).map_err(|_| E::invalid_value(Unexpected::Unsigned(n), &self))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Samples, E> {
        let small = u32::try_from(n);
        small.map(Samples::Each).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Samples, E> {
        match word {
            RECORDED => Ok(Samples::Recorded),
            word => Err(E::invalid_type(Unexpected::Str(word), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Samples, A::Error> {
        let mut numbers = Vec::new();
        while let Some(n) = list.next_element()? {
            numbers.push(n);
        }
        Ok(Samples::ByPuzzle(numbers))
    }
}

impl Samples {
    /// The number of answers to a puzzle, by its index; 0 before they are counted.
    pub fn at(&self, place: usize) -> u32 {
        match self {
            Samples::Each(n) => *n,
            Samples::ByPuzzle(list) => list.get(place).copied().unwrap_or(0),
            Samples::Recorded => 0,
        }
    }

    /// Checks the numbers, given the number of puzzles.
    pub(super) fn check(&self, puzzles: usize) -> Result<(), Wrong> {
        let wrong = |message: String| Err(Wrong::new("samples", message));
        let numbers: &[u32] = match self {
            Samples::Each(n) => std::slice::from_ref(n),
            Samples::ByPuzzle(list) if list.len() != puzzles => {
                return wrong(format!(
                    "must have {puzzles} numbers, one for each puzzle, not {}",
                    list.len()
                ));
            }
            Samples::ByPuzzle(list) => list,
            Samples::Recorded => &[],
        };
        if numbers.contains(&0) {
            return wrong("must be at least 1".to_owned());
        }
        match numbers.iter().find(|n| **n > MOST) {
            Some(n) => wrong(format!("must be at most {MOST}, not {n}")),
            None => Ok(()),
        }
    }
}
