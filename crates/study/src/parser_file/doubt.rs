//! Why a strategy left something unread.

use retold::escaping::printable;

/// How much of an answer a warning shows, in characters.
const SHOWN: usize = 40;

/// The beginning of a part of an answer, made harmless to display. Many doubts may be about one part,
/// which may be as long as the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt(String);

impl Excerpt {
    pub(super) fn new(text: &str) -> Self {
        Excerpt(printable(text, SHOWN))
    }
}

/// The warnings of a decision besides the repairs of JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadingDoubt {
    /// Digits that are not certainly one number.
    #[error("{:?} is not certainly one number, so no number was read there", .0.0)]
    Number(Excerpt),
    /// A fraction of another top than that of the scale, a range, or about a number.
    #[error("{:?} is not one value of the scale, so no number was read there", .0.0)]
    Scale(Excerpt),
    /// Two values where one was expected.
    #[error("{} and {} were found in one place, so nothing was read there", .0.0, .1.0)]
    Several(Excerpt, Excerpt),
    /// A value that a text denies.
    #[error("{:?} is a negation, so nothing was read there", .0.0)]
    Negated(Excerpt),
    /// An option of one letter that may be a word.
    #[error("the letter of {:?} may be a word, so no option was read there", .0.0)]
    Letter(Excerpt),
    /// Another number of options than the parser allows.
    #[error("the options that were found are {0}, but should be {1}, so nothing was read there")]
    Count(usize, String),
    /// Ranks that leave an order open.
    #[error("the ranks {} are not 1, 2, 3 and so on, so no ranking was read there", .0.0)]
    Ranks(Excerpt),
    /// An option with different points.
    #[error("{:?} has {} and {} points, so no points were read there", .0.0, .1.0, .2.0)]
    Points(Excerpt, Excerpt, Excerpt),
    /// An option that a list names twice.
    #[error("{:?} is there twice, so nothing was read there", .0.0)]
    Twice(Excerpt),
    /// An option without the number that others have.
    #[error("{:?} has no number, so nothing was read there", .0.0)]
    NoNumber(Excerpt),
    /// A part of a list that names no option.
    #[error("{} is not one of the options, so nothing was read there", .0.0)]
    Unknown(Excerpt),
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
