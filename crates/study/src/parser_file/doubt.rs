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
    /// A fraction of another top than that of the scale, a range, or about a number.
    #[error("{:?} is not one value of the scale, so no number was read there", printable(.0, SHOWN))]
    Scale(String),
    /// Two values where one was expected.
    #[error("{} and {} were found in one place, so nothing was read there", printable(.0, SHOWN), printable(.1, SHOWN))]
    Several(String, String),
    /// A value that a text denies.
    #[error("{:?} is a negation, so nothing was read there", printable(.0, SHOWN))]
    Negated(String),
    /// An option of one letter that may be a word.
    #[error("the letter of {:?} may be a word, so no option was read there", printable(.0, SHOWN))]
    Letter(String),
    /// A value of JSON that ends where the answer does.
    #[error("the JSON is cut off in the value, so nothing was read there")]
    CutJson,
    /// The end of the answer is missing.
    #[error("the answer ended by its length limit")]
    LengthLimit,
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
