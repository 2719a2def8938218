//! `vector@1`: the answer to an embedding request. The vector itself is the answer's content, kept
//! exactly; the parser only checks that the answer is not a text.

use super::free_text::Params;
use crate::parse::chain::{ChainParser, Found, Strategy};
use crate::prompt::CanonicalError;

/// The vector parser; its value says whether the answer can be a vector.
pub type VectorParser = ChainParser<Params, bool>;

const STRATEGIES: &[Strategy<Params, bool>] =
    &[Strategy { method: "no_text", find: |text, _| text.is_empty().then(|| Found::plain(true)) }];

/// `vector@1`.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn parser() -> Result<VectorParser, CanonicalError> {
    ChainParser::new("vector", 1, Params {}, STRATEGIES, ("failed", failed), None)
}

fn failed(_: &str, _: &Params) -> Found<bool> {
    let warnings = vec!["a text came instead of a vector".to_owned()];
    Found { warnings, ..Found::plain(false) }
}
