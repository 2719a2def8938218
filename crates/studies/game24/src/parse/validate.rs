//! The validator: from a candidate and the puzzle's numbers to a verdict.

use num_traits::ToPrimitive;

use super::expression::{Expression, Rational};

/// The validator's verdict on a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateVerdict {
    /// Every number is used once, and the value is exactly 24.
    Valid,
    /// There is no candidate.
    Empty,
    /// Not an arithmetic expression, or one without a value (a division by zero). The original
    /// project counts the latter here as well, so that tallies of reasons remain comparable.
    FormatError,
    /// An expression over numbers other than the puzzle's.
    WrongNumbers,
    /// The right numbers, but a different value.
    MathError,
}

impl CandidateVerdict {
    /// The name recorded in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            CandidateVerdict::Valid => "valid",
            CandidateVerdict::Empty => "empty",
            CandidateVerdict::FormatError => "format_error",
            CandidateVerdict::WrongNumbers => "wrong_numbers",
            CandidateVerdict::MathError => "math_error",
        }
    }
}

/// Judges a candidate. The first problem is the reason: form, then numbers, then value.
#[must_use]
pub fn validate(candidate: &str, numbers: &[i64]) -> CandidateVerdict {
    if candidate.trim().is_empty() {
        return CandidateVerdict::Empty;
    }
    let Some(expression) = Expression::parse(candidate) else {
        return CandidateVerdict::FormatError;
    };
    if !uses_exactly(&expression, numbers) {
        return CandidateVerdict::WrongNumbers;
    }
    match expression.value() {
        None => CandidateVerdict::FormatError,
        Some(value) if value == Rational::from_integer(24) => CandidateVerdict::Valid,
        Some(_) => CandidateVerdict::MathError,
    }
}

/// Whether the expression's literals are the given numbers, each as often as given.
///
/// Signs are operators, so the literal `3` satisfies a given `-3`.
pub(super) fn uses_exactly(expression: &Expression, numbers: &[i64]) -> bool {
    if expression.literals().count() != numbers.len() {
        return false;
    }
    let mut used: Vec<u64> = expression.literals().map(i64::unsigned_abs).collect();
    let mut given: Vec<u64> = numbers.iter().map(|n| n.unsigned_abs()).collect();
    used.sort_unstable();
    given.sort_unstable();
    used == given
}

/// All numbers that are separate words in a problem's text: `2 4 6 8 → 24` gives all five.
#[must_use]
pub fn problem_numbers(text: &str) -> Vec<i64> {
    let words = text.split(|c: char| c.is_whitespace() || c == '→');
    let numbers = words.filter_map(|word| word.parse::<f64>().ok());
    // Truncated, as in the original; NaN and the infinities are not numbers.
    numbers.filter_map(|n| n.trunc().abs().to_i64()).collect()
}

/// The numbers to use according to a problem's text, without the target if it is given.
///
/// A puzzle has four numbers, so only a fifth number that is 24 is the target: a puzzle that has a
/// 24 keeps it.
#[must_use]
pub fn puzzle_numbers(text: &str) -> Vec<i64> {
    let mut numbers = problem_numbers(text);
    if numbers.len() > 4 && numbers.last() == Some(&24) {
        numbers.pop();
    }
    numbers
}
