//! `free_text@1`: the answer without surrounding white space. For turns of a dialogue, summaries
//! and descriptions.

use serde::{Deserialize, Serialize};

use crate::parse::strategies::{FoundValue, Strategy, StrategyParser};
use crate::parse::thinking;
use crate::prompt::CanonicalError;

/// There are no settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreeTextParams {}

/// The free text parser; its value is empty if the answer was.
pub type FreeTextParser = StrategyParser<FreeTextParams, String>;

const STRATEGIES: &[Strategy<FreeTextParams, String>] =
    &[Strategy { method: "trimmed_text", find: trim }];

/// `free_text@1`.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn parser() -> Result<FreeTextParser, CanonicalError> {
    StrategyParser::new("free_text", 1, FreeTextParams {}, STRATEGIES, ("empty", empty), None)
}

fn trim(text: &str, _: &FreeTextParams) -> Option<FoundValue<String>> {
    let (reasoning, answer) = thinking::split(text);
    let reasoning = reasoning.map(str::to_owned);
    (!answer.is_empty()).then(|| FoundValue { reasoning, ..FoundValue::plain(answer.to_owned()) })
}

fn empty(_: &str, _: &FreeTextParams) -> FoundValue<String> {
    let warnings = vec!["the answer is empty".to_owned()];
    FoundValue { warnings, ..FoundValue::plain(String::new()) }
}
