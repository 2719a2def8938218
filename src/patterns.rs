//! Patterns from elsewhere, compiled within one budget for all of a file: a few bytes of a pattern may take megabytes, and
//! a file may have thousands of them.

use regex::{Regex, RegexBuilder};
use regex_automata::nfa::thompson::NFA;

/// The most bytes that all patterns of a file take.
pub const MOST_BYTES: usize = 128 << 20;

/// The bytes that a pattern takes besides its program.
const EACH: usize = 16 << 10;

/// How often the program of a pattern is in memory: for both directions, and about as much again for a search.
const COPIES: usize = 4;

/// The most bytes of states that are kept for all patterns of a file, in each direction and thread.
const MOST_STATES: usize = 64 << 20;

/// The fewest for one of many patterns, and the most, which is the library's own number.
const STATES: (usize, usize) = (16 << 10, 2 << 20);

/// The deepest nesting of groups.
const DEEPEST: u32 = 100;

/// Why a pattern cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// Not a regular expression.
    #[error("this is not a regular expression: {0}")]
    Syntax(#[source] Box<regex::Error>),
    /// Larger than one pattern may be.
    #[error("the pattern is too large: it repeats too much")]
    TooLarge,
    /// Too large together with those before it.
    #[error(
        "the patterns up to this one take more than {} MiB, the most that those of a file may take: write fewer, or some that \
         repeat less",
        MOST_BYTES >> 20
    )]
    TooManyTogether,
}

/// The memory that the patterns of a file may still take.
#[derive(Debug)]
pub struct PatternBudget {
    left: usize,
    states: usize,
}

impl PatternBudget {
    /// The budget of a file with about so many patterns.
    pub fn new(patterns: usize) -> Self {
        let (fewest, most) = STATES;
        let states = (MOST_STATES / patterns.max(1)).clamp(fewest, most);
        PatternBudget { left: MOST_BYTES, states }
    }

    /// A pattern, whose program has at most so many bytes.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn compile(&mut self, pattern: &str, largest: usize) -> Result<Regex, PatternError> {
        let affordable = self.left.saturating_sub(EACH) / COPIES;
        if affordable == 0 {
            return Err(PatternError::TooManyTogether);
        }
        let mut builder = RegexBuilder::new(pattern);
        builder.size_limit(largest.min(affordable)).dfa_size_limit(self.states).nest_limit(DEEPEST);
        let regex = builder.build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) if affordable < largest => {
                PatternError::TooManyTogether
            }
            regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
            other => PatternError::Syntax(Box::new(other)),
        })?;
        // The library does not say how large its program is, so it is made once more.
        let size = NFA::new(pattern).map_or(affordable, |program| program.memory_usage());
        self.left = self.left.saturating_sub(EACH + COPIES * size);
        Ok(regex)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: usize = 10 << 20;

    /// How many patterns of a form a file may have.
    fn most(pattern: impl Fn(usize) -> String) -> usize {
        let mut budget = PatternBudget::new(100_000);
        let fits = |n: &usize| match budget.compile(&pattern(*n), LARGEST) {
            Ok(_) => true,
            Err(PatternError::TooManyTogether) => false,
            Err(other) => panic!("{other}"),
        };
        (0..100_000).take_while(fits).count()
    }

    #[test]
    fn small_patterns_are_many_and_large_ones_few() {
        let small = most(|n| format!("a{n}"));
        let large = most(|n| format!(r"[\pL\pN]{{150}}x{n}"));
        assert!((2_000..10_000).contains(&small), "{small}");
        assert!((10..100).contains(&large), "{large}");
    }

    #[test]
    fn a_pattern_that_is_too_large_alone_is_named_as_such() {
        let mut budget = PatternBudget::new(1);
        let mut wrong = |pattern: &str| budget.compile(pattern, 1 << 20).unwrap_err();
        assert!(matches!(wrong(r"\w{999}{999}"), PatternError::TooLarge));
        assert!(matches!(wrong("("), PatternError::Syntax(_)));
        assert!(matches!(wrong(&"(".repeat(200)), PatternError::Syntax(_)));
    }
}
