//! Why a rule about requests or a redaction cannot be used.

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
    /// Not a regular expression.
    #[error("--redact {pattern:?} is not a regular expression: {source}")]
    Redact {
        /// As given.
        pattern: String,
        /// Why not.
        source: Box<regex::Error>,
    },
    /// A run that was changed.
    #[error(
        "the patterns that the run recorded for --redact were not sealed with its key: the run was changed"
    )]
    NotSealed,
    /// A pattern that matches everywhere.
    #[error("--redact {0:?} also matches the empty text: write a pattern that needs a character")]
    RedactsNothing(String),
    /// Not a regular expression.
    #[error("--replace {pattern:?} is not a regular expression: {source}")]
    Regex {
        /// As given.
        pattern: String,
        /// Why not.
        source: Box<regex::Error>,
    },
}
