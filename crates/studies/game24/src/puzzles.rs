//! Puzzle lists: the built-in one, ranges of it, and files.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The 1,362 solvable puzzles in the order of the Tree of Thoughts study, one per line.
pub const BUILT_IN: &str = include_str!("puzzles.txt");

/// One puzzle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Puzzle {
    /// Its row in the list, from 0.
    pub row: u64,
    /// Its numbers.
    pub numbers: Vec<i64>,
    /// The spelling in the prompt, if it is not with single spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelt: Option<String>,
}

/// A puzzle list that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PuzzleError {
    /// A line that is not a puzzle.
    #[error(
        "line {line}: {text:?} is not a puzzle: write four whole numbers from 1 to 99, such as 4 5 6 10 or 4, 5, 6, 10"
    )]
    BadLine {
        /// The line's number, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// No puzzles at all.
    #[error("there are no puzzles in it")]
    Empty,
    /// A range that is not in the list.
    #[error(
        "rows {rows:?} are not in the list: write FROM..TO with FROM below TO and TO at most {len}"
    )]
    BadRows {
        /// As given.
        rows: String,
        /// The number of puzzles in the list.
        len: usize,
    },
}

impl Puzzle {
    /// The numbers as the prompt has them: `4 5 6 10`, or in the list's own spelling.
    pub fn text(&self) -> String {
        self.spelt.clone().unwrap_or_else(|| with_spaces(&self.numbers))
    }
}

fn with_spaces(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

/// The whole numbers in a text, with any separators: `[4, 5, 6, 10.0]` has four. A number with a
/// fraction or with more than nine digits is not included.
pub(super) fn numbers_in(text: &str) -> Vec<i64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let runs = text.split(|c: char| !is_part(c)).map(|run| run.trim_matches('.'));
    let whole = runs.filter_map(|run| match run.split_once('.') {
        None => Some(run),
        Some((whole, fraction)) => fraction.bytes().all(|b| b == b'0').then_some(whole),
    });
    whole.filter(|whole| whole.len() < 10).filter_map(|whole| whole.parse().ok()).collect()
}

/// Whether all the numbers are in a text, each as often as required, in any order.
pub(super) fn shows(text: &str, numbers: &[i64]) -> bool {
    let mut there = numbers_in(text);
    numbers.iter().all(|number| match there.iter().position(|n| n == number) {
        Some(at) => {
            there.swap_remove(at);
            true
        }
        None => false,
    })
}

/// Reads a list with one puzzle per line; blank lines and lines beginning with `#` are skipped.
///
/// # Errors
/// [`PuzzleError`] with the line.
pub(super) fn parse_list(text: &str) -> Result<Vec<Puzzle>, PuzzleError> {
    let mut puzzles = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = || PuzzleError::BadLine { line: i + 1, text: line.chars().take(60).collect() };
        let is_between = |c: char| c.is_whitespace() || "[](){},;|\"'".contains(c);
        let numbers = line.split(is_between).filter(|word| !word.is_empty()).map(str::parse);
        let numbers = numbers.collect::<Result<Vec<i64>, _>>().map_err(|_| bad())?;
        if numbers.len() != 4 || numbers.iter().any(|n| !(1..=99).contains(n)) {
            return Err(bad());
        }
        let plain = line.split_whitespace().eq(numbers.iter().map(i64::to_string));
        let spelt = (!plain).then(|| line.to_owned());
        puzzles.push(Puzzle { row: puzzles.len() as u64, numbers, spelt });
    }
    if puzzles.is_empty() {
        return Err(PuzzleError::Empty);
    }
    Ok(puzzles)
}

/// Rows `FROM..TO` of a list, excluding `TO`.
///
/// # Errors
/// [`PuzzleError::BadRows`].
pub(super) fn rows(puzzles: Vec<Puzzle>, rows: &str) -> Result<Vec<Puzzle>, PuzzleError> {
    let len = puzzles.len();
    let range = rows.split_once("..").and_then(|(from, to)| {
        let range: Range<usize> = from.trim().parse().ok()?..to.trim().parse().ok()?;
        (range.start < range.end && range.end <= len).then_some(range)
    });
    let Some(range) = range else {
        return Err(PuzzleError::BadRows { rows: rows.to_owned(), len });
    };
    Ok(puzzles.into_iter().skip(range.start).take(range.len()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_however_they_are_spelt() {
        assert_eq!(numbers_in("Use 4, 5, 6 and 10."), [4, 5, 6, 10]);
        assert_eq!(numbers_in("[4,5,6,10.0] x4.5 1234567890"), [4, 5, 6, 10]);
        assert!(shows("10 4 4 6 of 24", &[4, 4, 6, 10]));
        assert!(!shows("10 4 6 of 24", &[4, 4, 6, 10]), "each as often as it is given");
        assert!(!shows("14 5 6 10", &[4, 5, 6, 10]), "a part of a number is none");
    }

    #[test]
    fn a_list_keeps_its_spelling() {
        let list =
            parse_list("4 5 6 10\n 4  5 6 10\n4, 5, 6, 10\n[4,5,6,10]\n# no\n(4; 5; 6; 10)\n")
                .expect("a list");
        assert!(list.iter().all(|puzzle| puzzle.numbers == [4, 5, 6, 10]));
        let texts: Vec<String> = list.iter().map(Puzzle::text).collect();
        assert_eq!(texts, ["4 5 6 10", "4 5 6 10", "4, 5, 6, 10", "[4,5,6,10]", "(4; 5; 6; 10)"]);
        for wrong in
            ["4 5 6", "4 5 6 10 11", "4 5 6 100", "4 5 6 x", "4-5-6-10", "4.5 5 6 10", "0 1 2 3"]
        {
            assert!(
                matches!(parse_list(wrong), Err(PuzzleError::BadLine { line: 1, .. })),
                "{wrong}"
            );
        }
    }
}
