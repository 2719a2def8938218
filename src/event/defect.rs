//! What a stored event lacks that its kind needs.

use super::because::BecauseError;

/// What a stored event lacks that its kind needs. Errors of JSON are kept as they read, so that faults can be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventDefect {
    /// A column is empty.
    #[error("it has no {0}")]
    Lacks(&'static str),
    /// The body is not that of its kind.
    #[error("its body: {0}")]
    Body(String),
    /// The settings of a `RunStarted` are not JSON.
    #[error("settings: {0}")]
    Settings(String),
    /// The parser and method of a `DecisionMade` are not JSON of these.
    #[error("its parser and method cannot be read: {0}")]
    Parser(String),
    /// The fact of an `Occurred` is not JSON.
    #[error("its fact: {0}")]
    Fact(String),
    /// The body of an `Occurred` is of another form.
    #[error("its body is not {{\"causes\":[..],\"fact\":..}}")]
    NotAnOccurrence,
    /// The sources of a prompt are later events, or not in order.
    #[error("what its prompt was made from is not a list of earlier events")]
    Sources,
}

impl From<BecauseError> for EventDefect {
    fn from(error: BecauseError) -> Self {
        match error {
            BecauseError::Body(error) => EventDefect::Body(error.to_string()),
            BecauseError::NotEarlier => EventDefect::Sources,
        }
    }
}
