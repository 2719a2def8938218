//! Why a strategy left something unread.

use retold::escaping::printable;

/// How much of an answer a warning shows, in characters.
const SHOWN: usize = 40;

/// The warnings of a decision besides the repairs of JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadingDoubt {
    /// Digits that are not certainly one number.
    #[error("{:?} is not certainly one number, so no number was read there", printable(.0, SHOWN))]
    Number(String),
    /// The reasoning was cut off, so the answer never came.
    #[error("the reasoning is never closed, so nothing in it was read")]
    OpenReasoning,
    /// A tag or a fence that `after` or `outside` names.
    #[error("{0} is never closed, so nothing in it was read")]
    OpenPart(String),
    /// A control character that was probably meant as the backslash and letter of LaTeX.
    #[error("an escape in the JSON was read as a control character, but may be LaTeX's \\{0}")]
    EatenLatex(String),
}
