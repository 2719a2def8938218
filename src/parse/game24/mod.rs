//! The Game of 24: what the model said, the candidate in it, and whether it is right.
//!
//! The rules come from the source document "Model Output Parsing Spec (Reasoning-Friendly)":
//! raw output to candidate (the parser), candidate to verdict (the validator). The validator never
//! sees the raw output.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::{AnyParser, ChainParser};
use crate::prompt::CanonicalError;

/// What the parser is told: the puzzle's numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The numbers to use, each exactly once.
    pub numbers: Vec<i64>,
}

/// A Game of 24 parser; its value is the candidate expression, empty if none was found.
pub type Game24Parser = ChainParser<Params, String>;

/// The parser of a version (1 or 2).
///
/// # Errors
/// [`CanonicalError`] never in practice: the settings are a list of numbers.
pub fn parser(version: u32, params: Params) -> Result<Game24Parser, CanonicalError> {
    ChainParser::new(
        "game24",
        version,
        params,
        &[],
        ("empty", |_, _| super::Found::plain(String::new())),
        None,
    )
}

/// The parser of a version, from recorded settings.
pub(super) fn from_params(version: u32, params: &Value) -> Result<Box<dyn AnyParser>, String> {
    let params = Params::deserialize(params).map_err(|e| e.to_string())?;
    Ok(Box::new(parser(version, params).map_err(|e| e.to_string())?))
}
