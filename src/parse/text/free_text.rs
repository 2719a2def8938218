//! `free_text@1`: the answer without surrounding white space. For turns of a dialogue, summaries
//! and descriptions.

use serde::{Deserialize, Serialize};

use crate::parse::chain::{ChainParser, Found, Strategy};
use crate::parse::thinking;
use crate::prompt::CanonicalError;

/// There are no settings.
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
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn parser() -> Result<FreeTextParser, CanonicalError> {
    ChainParser::new("free_text", 1, Params {}, STRATEGIES, ("empty", empty), None)
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
