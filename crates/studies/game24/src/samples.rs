//! The number of independent answers to each puzzle.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use retold_study::config::ConfigProblem;

/// The most answers to a puzzle.
const MOST: u32 = 1_000_000;

/// The word for as many as there are.
const RECORDED: &str = "recorded";

/// The number of answers to each puzzle: a number, a list of numbers, or the word `recorded`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleCounts {
    /// The same number for each puzzle.
    Each(u32),
    /// One number per puzzle, in order.
    ByPuzzle(Vec<u32>),
    /// As many for each as the file of answers has. Only in a config: the settings of a run have
    /// the numbers.
    Recorded,
}

impl Serialize for SampleCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SampleCounts::Each(n) => n.serialize(serializer),
            SampleCounts::ByPuzzle(list) => list.serialize(serializer),
            SampleCounts::Recorded => RECORDED.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SampleCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SamplesReader)
    }
}

impl JsonSchema for SampleCounts {
    fn schema_name() -> Cow<'static, str> {
        "SampleCounts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (each, by_puzzle) = (u32::json_schema(generator), Vec::<u32>::json_schema(generator));
        json_schema!({"anyOf": [each, by_puzzle, {"const": RECORDED}]})
    }
}

/// Reads all three forms.
struct SamplesReader;

impl<'de> Visitor<'de> for SamplesReader {
    type Value = SampleCounts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number, a list with one for each puzzle, or \"recorded\"")
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<SampleCounts, E> {
        let small = u32::try_from(n);
        small.map(SampleCounts::Each).map_err(|_| E::invalid_value(Unexpected::Unsigned(n), &self))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<SampleCounts, E> {
        let small = u32::try_from(n);
        small.map(SampleCounts::Each).map_err(|_| E::invalid_value(Unexpected::Signed(n), &self))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<SampleCounts, E> {
        match word {
            RECORDED => Ok(SampleCounts::Recorded),
            word => Err(E::invalid_type(Unexpected::Str(word), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SampleCounts, A::Error> {
        let mut numbers = Vec::new();
        while let Some(n) = list.next_element()? {
            numbers.push(n);
        }
        Ok(SampleCounts::ByPuzzle(numbers))
    }
}

impl SampleCounts {
    /// The number of answers to a puzzle, by its index; 0 before they are counted.
    pub fn at(&self, place: usize) -> u32 {
        match self {
            SampleCounts::Each(n) => *n,
            SampleCounts::ByPuzzle(list) => list.get(place).copied().unwrap_or(0),
            SampleCounts::Recorded => 0,
        }
    }

    /// Checks the numbers, given the number of puzzles.
    pub(super) fn check(&self, puzzles: usize) -> Result<(), ConfigProblem> {
        let wrong = |message: String| Err(ConfigProblem::new("samples", message));
        let numbers: &[u32] = match self {
            SampleCounts::Each(n) => std::slice::from_ref(n),
            SampleCounts::ByPuzzle(list) if list.len() != puzzles => {
                return wrong(format!(
                    "must have {puzzles} numbers, one for each puzzle, not {}",
                    list.len()
                ));
            }
            SampleCounts::ByPuzzle(list) => list,
            SampleCounts::Recorded => &[],
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
