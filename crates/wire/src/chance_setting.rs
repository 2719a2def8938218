//! The seed of a program's own draws, as its run records it.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

/// The length of a seed, in bytes.
const LENGTH: usize = 16;

/// The chance of a run: its draws, and whether `uuid4` is one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChance {
    /// What all draws are made from.
    pub seed: ChanceSeed,
    /// Whether `uuid4` is made from it, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uuid: bool,
}

impl RecordedChance {
    /// The chance of a new run.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub fn random(uuid: bool) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)?;
        Ok(RecordedChance { seed: ChanceSeed(HEXLOWER.encode(&bytes)), uuid })
    }

    /// The seed of hashes in Python, from which the order of sets of texts follows. It is the beginning of the seed, but not 0,
    /// which would mean none.
    pub fn hash_seed(&self) -> u32 {
        let ChanceSeed(seed) = &self.seed;
        seed.get(..8).and_then(|it| u32::from_str_radix(it, 16).ok()).unwrap_or_default().max(1)
    }

    /// The value of the variable by which Python processes know it; `is_replay` says whether they are to tell where in the
    /// program a request was made.
    pub fn variable(&self, is_replay: bool) -> String {
        let words = [(self.uuid, "+uuid"), (is_replay, "+replay")];
        let words = words.into_iter().filter(|(has, _)| *has).map(|(_, word)| word);
        std::iter::once(self.seed.0.as_str()).chain(words).collect()
    }
}

/// A seed, as 32 hexadecimal digits: whatever a recording has there becomes a variable of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ChanceSeed(String);

/// What a recording has for a seed is none.
#[derive(Debug, thiserror::Error)]
#[error("the seed of its chance is not 32 hexadecimal digits in lower case")]
pub struct SeedError;

impl TryFrom<String> for ChanceSeed {
    type Error = SeedError;

    fn try_from(text: String) -> Result<Self, SeedError> {
        match HEXLOWER.decode(text.as_bytes()) {
            Ok(bytes) if bytes.len() == LENGTH => Ok(ChanceSeed(text)),
            _ => Err(SeedError),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_chance_is_read_as_it_was_written_and_each_is_another() {
        let [one, two] = [false, true].map(|uuid| RecordedChance::random(uuid).unwrap());
        assert_ne!(one.seed, two.seed);
        for chance in [&one, &two] {
            assert_eq!(serde_json::from_value::<RecordedChance>(json!(chance)).unwrap(), *chance);
        }
        assert_eq!(json!(one), json!({"seed": one.seed}));
        let ChanceSeed(seed) = &two.seed;
        assert_eq!(two.variable(false), format!("{seed}+uuid"));
        assert_eq!(two.variable(true), format!("{seed}+uuid+replay"));
    }

    #[test]
    fn a_seed_from_a_recording_is_nothing_but_digits() {
        for wrong in
            ["", "ab", &"AB".repeat(16), &"ab".repeat(17), &format!("{}\n+", "a".repeat(30))]
        {
            let given = json!({"seed": wrong});
            let error = serde_json::from_value::<RecordedChance>(given).unwrap_err();
            assert!(error.to_string().contains("32 hexadecimal digits"), "{wrong:?}: {error}");
        }
    }
}
