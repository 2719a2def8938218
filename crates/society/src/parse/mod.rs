//! The agent society: which of nine actions an agent takes.
//!
//! The rules come from the source document "Agent System Prompts": an answer is one JSON object
//! with an `action` and its fields, within limits.
//!
//! - `action@1` (`v1`): the document's program, its models' coercions included.
//! - `action@2` (`v2`): the action the agent stated, or a rejection with its reason.
//! - `action@3` (`v2`): the same, with broken JSON read whole, copied examples passed over, and rejections that
//!   carry the action.
//! - [`Action`]: the nine actions.

mod action;
mod examples;
mod fields;
mod forgiving;
mod pydantic;
mod v1;
mod v2;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use retold::parse::{AnyParser, ChainParser, ParserFamily};
use retold::prompt::CanonicalError;

pub use action::{Action, Ballot, ProposalType, Resource, WorkType};

/// What the parser is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How many agents there are: ids go from 1 to this.
    #[serde(default = "hundred")]
    pub agents: u32,
}

/// The document's number of agents.
fn hundred() -> u32 {
    100
}

impl Default for Params {
    fn default() -> Self {
        Params { agents: hundred() }
    }
}

/// An action parser.
pub type ActionParser = ChainParser<Params, Action>;

/// `action`, in all its versions.
pub static ACTION: ParserFamily = ParserFamily {
    name: "action",
    versions: &[1, 2, 3],
    make: |spec| from_params(spec.version, &spec.params),
};

/// The parser of a version: 1, 2, or 3 for any other number ([`retold::parse::registry`] refuses those).
///
/// # Errors
/// [`CanonicalError`] never in practice: the settings are a number.
pub fn parser(version: u32, params: Params) -> Result<ActionParser, CanonicalError> {
    let (version, strategies, last) = match version {
        1 => (1, v1::STRATEGIES, v1::LAST),
        2 => (2, v2::STRATEGIES, v2::LAST),
        _ => (3, v2::STRATEGIES_3, v2::LAST_3),
    };
    ChainParser::new("action", version, params, strategies, last, None)
}

/// The parser of a version, from recorded settings. No settings at all means the document's.
fn from_params(version: u32, params: &Value) -> Result<Box<dyn AnyParser>, String> {
    let params = match params {
        Value::Null => Params::default(),
        params => Params::deserialize(params).map_err(|e| e.to_string())?,
    };
    Ok(Box::new(parser(version, params).map_err(|e| e.to_string())?))
}
