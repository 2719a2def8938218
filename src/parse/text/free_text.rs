//! `free_text@1`: the answer without the white space around it. For turns of a dialogue, summaries
//! and descriptions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::chain::{AnyParser, ChainParser, Found, Strategy};
use crate::parse::thinking;
use crate::prompt::CanonicalError;

/// There is nothing to set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The free text parser; its value is empty if the answer was.
pub type FreeTextParser = ChainParser<Params, String>;

const STRATEGIES: &[Strategy<Params, String>] =
    &[Strategy { method: "trimmed_text", find: trimmed }];

/// `free_text@1`.
///
/// # Errors
/// [`CanonicalError`] never in practice: there are no settings.
pub fn parser() -> Result<FreeTextParser, CanonicalError> {
    ChainParser::new("free_text", 1, Params {}, STRATEGIES, ("empty", empty), None)
}

pub(crate) fn from_params(params: &Value) -> Result<Box<dyn AnyParser>, String> {
    check(params)?;
    Ok(Box::new(parser().map_err(|e| e.to_string())?))
}

/// Settings of a parser that has none: nothing, or an empty object.
pub(super) fn check(params: &Value) -> Result<(), String> {
    match params {
        Value::Null => Ok(()),
        params => Params::deserialize(params).map(drop).map_err(|e| e.to_string()),
    }
}

fn trimmed(text: &str, _: &Params) -> Option<Found<String>> {
    let (reasoning, answer) = thinking::split(text);
    let reasoning = reasoning.map(str::to_owned);
    (!answer.is_empty()).then(|| Found { reasoning, ..Found::plain(answer.to_owned()) })
}

fn empty(_: &str, _: &Params) -> Found<String> {
    let warnings = vec!["the answer is empty".to_owned()];
    Found { warnings, ..Found::plain(String::new()) }
}
