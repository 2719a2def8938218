//! The validator: a candidate and the puzzle's numbers in, a verdict out.

use num_traits::ToPrimitive;

use super::expression::{Expression, Rational};

/// What the validator says of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every number used once, and the value is exactly 24.
    Valid,
    /// There is no candidate.
    Empty,
    /// Not an arithmetic expression, or one without a value (a division by zero). The original
    /// project counts the latter here, and its tallies of reasons stay comparable.
    FormatError,
    /// An expression over other numbers than the puzzle's.
    WrongNumbers,
    /// The right numbers, another value.
    MathError,
}

impl Verdict {
    /// The name recorded in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Empty => "empty",
            Verdict::FormatError => "format_error",
            Verdict::WrongNumbers => "wrong_numbers",
            Verdict::MathError => "math_error",
        }
    }
}

/// Judges a candidate. The first thing wrong is the reason: form, then numbers, then value.
#[must_use]
pub fn validate(candidate: &str, numbers: &[i64]) -> Verdict {
    if candidate.trim().is_empty() {
        return Verdict::Empty;
    }
    let Some(expression) = Expression::parse(candidate) else {
        return Verdict::FormatError;
    };
    if !uses_exactly(&expression, numbers) {
        return Verdict::WrongNumbers;
    }
    match expression.value() {
        None => Verdict::FormatError,
        Some(value) if value == Rational::from_integer(24) => Verdict::Valid,
        Some(_) => Verdict::MathError,
    }
}

/// Whether the expression's literals are the numbers, each as often as given.
///
/// Signs are operators, so a given `-3` is met by the literal `3`.
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

/// Every number a problem's text holds as a word of its own: `2 4 6 8 → 24` gives all five.
#[must_use]
pub fn problem_numbers(text: &str) -> Vec<i64> {
    let words = text.split(|c: char| c.is_whitespace() || c == '→');
    let numbers = words.filter_map(|word| word.parse::<f64>().ok());
    // Truncated, as the original does; NaN and the infinities are no numbers.
    numbers.filter_map(|n| n.trunc().abs().to_i64()).collect()
}

/// The numbers to use, out of a problem's text: without the target, where it is given.
///
/// A puzzle has four numbers, so only a fifth one that is 24 is the target: a puzzle that deals a
/// 24 keeps it.
#[must_use]
pub fn puzzle_numbers(text: &str) -> Vec<i64> {
    let mut numbers = problem_numbers(text);
    if numbers.len() > 4 && numbers.last() == Some(&24) {
        numbers.pop();
    }
    numbers
}
