//! The Game of 24: from the model's text to the candidate in it, and the verdict on that.
//!
//! The rules come from the source document "Model Output Parsing Spec (Reasoning-Friendly)": the
//! parser turns raw output into a candidate, and the validator turns the candidate into a verdict.
//! The validator never sees the raw output, and no parser looks at the value of an expression:
//! picking the correct one among several would make the solve rate a property of the parser.
//!
//! - `game24@1` (`v1`): exactly the document's rule.
//! - `game24@2` (`v2`): finds the final answer in what models really write.
//! - [`Expression`]: parses and evaluates arithmetic exactly.
//! - [`validate()`], [`CandidateVerdict`]: the validator.
//! - [`normalise()`]: LaTeX, Unicode and Markdown to plain arithmetic.

mod claims;
mod expression;
mod lines;
mod normalise;
mod refusal;
mod run;
mod split_answer;
mod tags;
mod v1;
mod v2;
mod validate;

use serde::{Deserialize, Serialize};

use retold::parse::{FoundValue, MakeError, ParserFamily, StrategyParser};

pub use expression::{Expression, Rational};
pub use normalise::normalise;
pub use validate::{CandidateVerdict, problem_numbers, puzzle_numbers, validate};

/// The parser's settings: the puzzle's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PuzzleParams {
    /// The numbers to use, each exactly once. Empty if they are unknown: then any expression is a
    /// candidate, and none gets a verdict.
    #[serde(default)]
    pub numbers: Vec<i64>,
}

/// A Game of 24 parser; its value is the candidate expression, or empty if none was found.
pub type Game24Parser = StrategyParser<PuzzleParams, String>;

/// `game24`, in all its versions.
pub static GAME24: ParserFamily = ParserFamily {
    name: "game24",
    versions: &[1, 2],
    make: |spec| Ok(Box::new(parser(spec.version, usable(spec.settings()?)?)?)),
};

/// The numbers that a puzzle may have, if somebody writes it down. The config of the study is
/// stricter.
const NUMBERS: std::ops::RangeInclusive<i64> = -9999..=9999;

/// Settings that may come from anybody.
fn usable(params: PuzzleParams) -> Result<PuzzleParams, MakeError> {
    match params.numbers.iter().find(|number| !NUMBERS.contains(number)) {
        None => Ok(params),
        Some(number) => {
            let reason = format!(
                "whole numbers from {} to {}, not {number}",
                NUMBERS.start(),
                NUMBERS.end()
            );
            Err(MakeError::Value { key: "numbers", reason })
        }
    }
}

/// The parser of a given version. Without settings, the numbers are unknown.
///
/// # Errors
/// [`MakeError::NoVersion`] if the version does not exist.
pub fn parser(version: u32, params: PuzzleParams) -> Result<Game24Parser, MakeError> {
    // A closure, because the parser passes its value as `&String`.
    let judge: fn(&String, &PuzzleParams) -> &'static str =
        |candidate, params| validate(candidate, &params.numbers).as_str();
    let judge = (!params.numbers.is_empty()).then_some(judge);
    let name = GAME24.name;
    match version {
        1 => {
            let empty = |_: &str, _: &PuzzleParams| FoundValue::plain(String::new());
            Ok(StrategyParser::new(name, version, params, v1::STRATEGIES, ("empty", empty), judge)?)
        }
        2 => Ok(StrategyParser::whole(name, version, params, v2::METHODS, v2::decide, judge)?),
        _ => Err(MakeError::NoVersion(version)),
    }
}
