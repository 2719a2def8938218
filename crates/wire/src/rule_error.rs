//! Why a rule about requests or a redaction cannot be used.

use retold::escaping::printable;
use retold::log::LogError;
use retold::patterns::PatternError;

use crate::replacing::MOST_GROWTH;

/// How much of a pattern is shown, in characters.
const SHOWN: usize = 200;

fn quote(pattern: &str) -> String {
    format!("\"{}\"", printable(pattern, SHOWN))
}

/// Why a rule cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A field without a name.
    #[error(
        "--ignore {0:?}: a field is given as NAME, or with the fields that it is in, as metadata.sent_at or messages.*.id"
    )]
    Field(String),
    /// No `=`.
    #[error("--replace {0:?}: write REGEX=TEXT, where the last = divides the two")]
    NoText(String),
    /// A pattern that cannot be used.
    #[error("--redact {}: {source}", quote(.pattern))]
    Redact {
        /// As given.
        pattern: String,
        /// Why not.
        source: PatternError,
    },
    /// A run that was changed.
    #[error(
        "the patterns that the run recorded for --redact were not sealed with its key: the run was changed"
    )]
    NotSealed,
    /// A pattern that matches everywhere.
    #[error("--redact {0:?} also matches the empty text: write a pattern that needs a character")]
    RedactsNothing(String),
    /// A pattern that cannot be used.
    #[error("--replace {}: {source}", quote(.pattern))]
    Replace {
        /// As given.
        pattern: String,
        /// Why not.
        source: PatternError,
    },
    /// A text that grows without bound.
    #[error(
        "--replace {}: the texts of a request grow to more than {MOST_GROWTH} times what they were: let the pattern match more, or \
         write a shorter text in its place",
        quote(.0)
    )]
    Grows(String),
}

/// A recorded request to which the rules of its run cannot be applied.
impl From<RuleError> for LogError {
    fn from(error: RuleError) -> Self {
        LogError::failure("of the run", error)
    }
}
