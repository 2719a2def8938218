//! The agent society: which of nine actions an agent takes.
//!
//! The rules come from the source document "Agent System Prompts": an answer is one JSON object
//! with an `action` and its fields, within limits.
//!
//! - `action@1` (`v1`): the document's program, including its models' coercions.
//! - `action@2` (`v2`): the action that the agent stated, or a rejection with its reason.
//! - [`Action`]: the nine actions.

mod action;
mod examples;
mod fields;
mod forgiving;
mod pydantic;
mod python_json;
mod v1;
mod v2;

use serde::{Deserialize, Serialize};

use retold::parse::{MakeError, ParserFamily, StrategyParser};

pub use action::{Action, Ballot, ProposalType, Resource, WorkType};

/// The parser's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionParams {
    /// The number of agents: ids range from 1 to this.
    #[serde(default = "hundred")]
    pub agents: u32,
}

/// The document's number of agents.
fn hundred() -> u32 {
    100
}

impl Default for ActionParams {
    fn default() -> Self {
        ActionParams { agents: hundred() }
    }
}

/// An action parser.
pub type ActionParser = StrategyParser<ActionParams, Action>;

/// `action`, in all its versions.
pub static ACTION: ParserFamily = ParserFamily {
    name: "action",
    versions: &[1, 2],
    make: |spec| Ok(Box::new(parser(spec.version, usable(spec.settings()?)?)?)),
};

/// Settings that may come from anybody.
fn usable(params: ActionParams) -> Result<ActionParams, MakeError> {
    match params.agents {
        0 => Err(MakeError::Value { key: "agents", reason: "at least 1, not 0".to_owned() }),
        _ => Ok(params),
    }
}

/// The parser of a version. Without settings, the document's are used.
///
/// # Errors
/// [`MakeError::NoVersion`] if the version does not exist.
pub fn parser(version: u32, params: ActionParams) -> Result<ActionParser, MakeError> {
    let (strategies, last) = match version {
        1 => (v1::STRATEGIES, v1::LAST),
        2 => (v2::STRATEGIES, v2::LAST),
        _ => return Err(MakeError::NoVersion(version)),
    };
    Ok(StrategyParser::new("action", version, params, strategies, last, None)?)
}
