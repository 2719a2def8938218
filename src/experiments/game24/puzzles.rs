//! Puzzle lists: the built-in one, ranges of it, and files.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The 1,362 solvable puzzles in the order of the Tree of Thoughts study, a line each.
pub const BUILT_IN: &str = include_str!("puzzles.txt");

/// One puzzle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Puzzle {
    /// Its row in the list, from 0.
    pub row: u64,
    /// Its numbers, as the prompt spells them.
    pub numbers: Vec<i64>,
}

/// A puzzle list that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PuzzleError {
    /// A line that is no puzzle.
    #[error(
        "line {line}: {text:?} is no puzzle: write four whole numbers from 1 to 99, with spaces"
    )]
    BadLine {
        /// From 1.
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
        /// How many puzzles there are.
        len: usize,
    },
}

impl Puzzle {
    /// The numbers as the prompt spells them: `4 5 6 10`.
    pub fn text(&self) -> String {
        self.numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// Reads a list: a puzzle a line, blank lines and lines that start with `#` left out.
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
        let numbers: Result<Vec<i64>, _> = line.split_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(|_| bad())?;
        if numbers.len() != 4 || numbers.iter().any(|n| !(1..=99).contains(n)) {
            return Err(bad());
        }
        puzzles.push(Puzzle { row: puzzles.len() as u64, numbers });
    }
    if puzzles.is_empty() {
        return Err(PuzzleError::Empty);
    }
    Ok(puzzles)
}

/// Rows `FROM..TO` of a list, `TO` not included.
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
