//! Which choices of an answer are decided about, where it has several (`n`, `candidateCount`).

use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Which choices of each answer to decide about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choices {
    /// The first.
    #[default]
    First,
    /// Each of them.
    All,
    /// The one with this number, from 0; answers without it are left alone.
    Only(u32),
}

impl Choices {
    /// Whether a choice is one of them.
    pub fn has(self, choice: u32) -> bool {
        match self {
            Choices::First => choice == 0,
            Choices::All => true,
            Choices::Only(only) => choice == only,
        }
    }
}

/// A text that names no choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write `all`, `first`, or the number of a choice, counted from 0")]
pub struct UnknownChoices;

impl FromStr for Choices {
    type Err = UnknownChoices;

    fn from_str(text: &str) -> Result<Self, UnknownChoices> {
        match text {
            "all" => Ok(Choices::All),
            "first" => Ok(Choices::First),
            number => number.parse().map(Choices::Only).map_err(|_| UnknownChoices),
        }
    }
}

/// One choice of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChoiceNumber {
    /// Which one, from 0.
    pub at: u32,
    /// How many the answer has.
    pub of: u32,
}

impl ChoiceNumber {
    /// That of an answer which has no other.
    pub const ONLY: ChoiceNumber = ChoiceNumber { at: 0, of: 1 };

    /// Its number, if the answer has several.
    pub fn among_several(self) -> Option<u32> {
        (self.of > 1).then_some(self.at)
    }

    /// The ending of an answer's name that names the choice: ` choice 2`, or nothing if it is the only one.
    pub fn suffix(self) -> String {
        self.among_several().map_or_else(String::new, |at| format!(" choice {at}"))
    }
}

impl Serialize for ChoiceNumber {
    /// Its number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.at)
    }
}

/// The choices that were left alone, because others were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkippedChoices {
    /// How many choices.
    pub choices: u64,
    /// How many answers have several choices, of which some were left alone.
    pub answers: u64,
    /// How many answers have no choice with the number that was asked for.
    pub without: u64,
    /// The most choices that one of these has.
    pub most: u32,
}

impl SkippedChoices {
    /// Counts an answer with so many choices, of which some are decided about.
    pub(super) fn count(&mut self, of: u32, chosen: Choices) {
        let taken = match chosen {
            Choices::All => of,
            Choices::First => 1,
            Choices::Only(at) => u32::from(at < of),
        };
        if taken == 0 {
            self.without += 1;
            self.most = self.most.max(of);
        } else if taken < of {
            self.answers += 1;
            self.choices += u64::from(of - taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_named_and_what_is_left_is_counted() {
        for (text, choices) in
            [("all", Choices::All), ("first", Choices::First), ("2", Choices::Only(2))]
        {
            assert_eq!(text.parse(), Ok(choices));
            let mut left = SkippedChoices::default();
            [1, 3, 4].into_iter().for_each(|of| left.count(of, choices));
            let due = match choices {
                Choices::All => SkippedChoices::default(),
                Choices::First => {
                    SkippedChoices { choices: 5, answers: 2, ..SkippedChoices::default() }
                }
                Choices::Only(_) => SkippedChoices { choices: 5, answers: 2, without: 1, most: 1 },
            };
            assert_eq!(left, due);
        }
        for wrong in ["", "-1", "second", "1.0", "ALL"] {
            assert_eq!(wrong.parse::<Choices>(), Err(UnknownChoices));
        }
    }
}
