//! `vector@1`: the answer to an embedding request. The vector itself is the answer's content, kept
//! exactly; the parser only checks that the answer is not a text.

use super::free_text::FreeTextParams;
use crate::parse::strategies::{FoundValue, Strategy, StrategyParser};
use crate::prompt::CanonicalError;

/// The vector parser; its value says whether the answer can be a vector.
pub type VectorParser = StrategyParser<FreeTextParams, bool>;

const STRATEGIES: &[Strategy<FreeTextParams, bool>] = &[Strategy {
    method: "no_text",
    find: |text, _| text.is_empty().then(|| FoundValue::plain(true)),
}];

/// `vector@1`.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn parser() -> Result<VectorParser, CanonicalError> {
    StrategyParser::new("vector", 1, FreeTextParams {}, STRATEGIES, ("failed", failure), None)
}

fn failure(_: &str, _: &FreeTextParams) -> FoundValue<bool> {
    let warnings = vec!["a text came instead of a vector".to_owned()];
    FoundValue { warnings, ..FoundValue::plain(false) }
}
