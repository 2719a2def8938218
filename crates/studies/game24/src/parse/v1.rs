//! `game24@1`: exactly the rule of the source document, including its blind spots.
//!
//! Real models mostly write `Answer: (...) = 24`, which this rule does not recognise. It is kept
//! because published numbers were computed with it, and for comparison. Improvements belong in a
//! later version.
//!
//! Where the document is not specific, the behaviour of the original project decides:
//! - of several `<answer>` blocks, the first counts, and of its lines, the first that is not blank;
//! - an empty block or `Output:` line leaves the text to the next strategy;
//! - if the puzzle's numbers are unknown, the bottom scan accepts any arithmetic expression.

use super::PuzzleParams;
use super::expression::Expression;
use super::lines::{lines, without_target};
use super::validate::uses_exactly;
use retold::parse::{FoundValue, Strategy};

pub(super) const STRATEGIES: &[Strategy<PuzzleParams, String>] = &[
    Strategy { method: "answer_block", find: answer_block },
    Strategy { method: "got_output_format", find: output_line },
    Strategy { method: "fallback_bottom_scan", find: bottom_scan },
];

fn answer_block(text: &str, _: &PuzzleParams) -> Option<FoundValue<String>> {
    let (_, rest) = text.split_once("<answer>")?;
    let (content, _) = rest.split_once("</answer>")?;
    let line = lines(content).next()?;
    non_empty(without_target(line))
}

fn output_line(text: &str, _: &PuzzleParams) -> Option<FoundValue<String>> {
    let line = lines(text).rev().find_map(|line| line.strip_prefix("Output:"))?;
    non_empty(without_target(line))
}

fn bottom_scan(text: &str, params: &PuzzleParams) -> Option<FoundValue<String>> {
    lines(text).rev().find_map(|line| {
        let line = without_target(line.strip_prefix("Output:").unwrap_or(line));
        if is_plausible(line, &params.numbers) { non_empty(line) } else { None }
    })
}

/// Section 6 of the document: only arithmetic, and each number once.
fn is_plausible(line: &str, numbers: &[i64]) -> bool {
    let allowed = |b: u8| {
        b.is_ascii_digit()
            || b.is_ascii_whitespace()
            || matches!(b, b'(' | b')' | b'+' | b'-' | b'*' | b'/')
    };
    line.bytes().all(allowed)
        && Expression::parse(line).is_some_and(|e| numbers.is_empty() || uses_exactly(&e, numbers))
}

fn non_empty(candidate: &str) -> Option<FoundValue<String>> {
    (!candidate.is_empty()).then(|| FoundValue::plain(candidate.to_owned()))
}
