//! Shards: the parts of a study that several machines record, each as a run of its own.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use retold::run::MOST_SHARDS;
use serde::{Deserialize, Serialize};

use crate::error::ExperimentError;

/// The key of a run's shard in the settings of its experiment.
pub const SHARD: &str = "shard";

/// One of the parts that a study is divided into: `3/16` is the third of 16. It has every 16th participant, game or puzzle,
/// so that all shards are about as long, however the study orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    of: NonZeroU32,
    number: NonZeroU32,
}

/// A text that names no shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// It has another form.
    #[error("write NUMBER/COUNT, such as 3/16 for the third of 16")]
    NotAShard,
    /// There are no shards, or none with this number.
    #[error("shards are numbered from 1 to their count, such as 3/16 for the third of 16")]
    OutOfRange,
    /// There are more than can be merged.
    #[error("there are at most {MOST_SHARDS} shards, because a merge reads all of them at once")]
    TooMany,
}

impl Shard {
    /// The shard with a number, from 1.
    ///
    /// # Errors
    /// [`ShardError::OutOfRange`] and [`ShardError::TooMany`].
    pub fn new(number: u32, of: u32) -> Result<Self, ShardError> {
        if of as usize > MOST_SHARDS {
            return Err(ShardError::TooMany);
        }
        match (NonZeroU32::new(number), NonZeroU32::new(of)) {
            (Some(number), Some(of)) if number <= of => Ok(Shard { of, number }),
            _ => Err(ShardError::OutOfRange),
        }
    }

    /// Its number, from 1.
    pub fn number(self) -> u32 {
        self.number.get()
    }

    /// How many shards there are.
    pub fn of(self) -> u32 {
        self.of.get()
    }

    /// Whether it has the part with this index, from 0.
    pub fn has(self, index: usize) -> bool {
        index as u64 % u64::from(self.of()) == u64::from(self.number() - 1)
    }
}

/// Whether a run of a shard, or of the whole study, has the part with this index, from 0.
pub fn is_in(shard: Option<Shard>, index: usize) -> bool {
    shard.is_none_or(|shard| shard.has(index))
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (number, of) = text.split_once('/').ok_or(ShardError::NotAShard)?;
        let whole = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse::<u32>().map_err(|_| ShardError::NotAShard),
            false => Err(ShardError::NotAShard),
        };
        Shard::new(whole(number)?, whole(of)?)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl TryFrom<String> for Shard {
    type Error = ShardError;

    fn try_from(text: String) -> Result<Self, ShardError> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

/// Whether a run of a study can be divided into shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// Nothing that is asked about one of its parts depends on another part, at least in the phases that a shard has.
    Into {
        /// The name of its parts: a noun in the plural.
        parts: &'static str,
        /// How many there are.
        count: usize,
    },
    /// It cannot be divided.
    Not {
        /// Why, as the end of a sentence.
        because: &'static str,
    },
}

/// Why a study cannot be divided as somebody wants.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardingError {
    /// Its parts depend on each other.
    #[error("a run of {experiment} cannot be divided into shards: {because}")]
    Indivisible {
        /// The experiment.
        experiment: String,
        /// Why.
        because: &'static str,
    },
    /// Some shards would be empty.
    #[error("shard {shard} would be empty: the study has too few {parts} ({count})")]
    TooMany {
        /// The shard.
        shard: Shard,
        /// The name of the study's parts.
        parts: &'static str,
        /// How many there are.
        count: usize,
    },
    /// Each shard would draw a seed of its own.
    #[error("the shards of a study need the same seed, and the config has no {key:?}")]
    DrawnSeed {
        /// The key of the seed in a config.
        key: &'static str,
    },
    /// There is no such experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The settings cannot be recorded.
    #[error("settings: {0}")]
    Settings(#[from] serde_json::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_number_and_a_count() {
        let shard: Shard = "3/16".parse().unwrap();
        assert_eq!((shard.number(), shard.of(), shard.to_string()), (3, 16, "3/16".to_owned()));
        assert_eq!("1/257".parse::<Shard>(), Err(ShardError::TooMany));
        for text in ["0/16", "17/16", "1/0", "0/0"] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::OutOfRange), "{text}");
        }
        for text in
            ["", "3", "3-16", "3/", "/16", "3/16/2", "+3/16", "3 / 16", "a/b", "1/4294967296"]
        {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::NotAShard), "{text}");
        }
    }

    #[test]
    fn every_part_is_in_exactly_one_shard_and_none_has_two_more_than_another() {
        for of in [1_u32, 2, 7, 16] {
            let shards: Vec<Shard> = (1..=of).map(|n| Shard::new(n, of).unwrap()).collect();
            let mut sizes = vec![0; of as usize];
            for index in 0..100 {
                let having: Vec<usize> =
                    (0..shards.len()).filter(|n| shards[*n].has(index)).collect();
                assert_eq!(having.len(), 1, "{index} of {of}");
                sizes[having[0]] += 1;
            }
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }
}
