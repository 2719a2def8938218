//! The regular expressions of a parser file.

use regex::Regex;
use retold::escaping::printable;
use retold::patterns::{PatternBudget, PatternError};

use crate::config::ConfigProblem;

/// How large the program of a pattern may be, in bytes. Matching takes time in proportion to the text times this size.
const LARGEST_PROGRAM: usize = 1 << 20;

/// A pattern, compiled; `key` is where it is written.
pub(super) fn built(
    pattern: &str,
    patterns: &mut PatternBudget,
    key: &str,
) -> Result<Regex, ConfigProblem> {
    patterns.compile(pattern, LARGEST_PROGRAM).map_err(|error| {
        let message = match error {
            PatternError::Syntax(error) => {
                // The last line has the reason; those above it point into the pattern.
                let said = error.to_string();
                let said = said.lines().last().unwrap_or("").trim();
                let said = said.strip_prefix("error: ").unwrap_or(said);
                format!("this is not a regular expression: {}", printable(said, 200))
            }
            other => other.to_string(),
        };
        ConfigProblem::new(key, message)
    })
}
