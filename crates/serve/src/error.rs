//! Why a page cannot be shown.

use retold::audit::AuditError;
use retold::inert::inert;
use retold::log::LogError;

/// Why a page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is no such page, run, event or participant.
    #[error("{0}")]
    NotFound(String),
    /// The address has a value that is not one.
    #[error("{0}")]
    BadRequest(String),
    /// The log cannot be read there.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A page could not be written from its template.
    #[error("the page could not be written: {0}")]
    Template(#[from] minijinja::Error),
    /// A page has no JSON form.
    #[error("the page could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl PageError {
    /// The HTTP status.
    pub(crate) fn status(&self) -> u16 {
        match self {
            PageError::NotFound(_) => 404,
            PageError::BadRequest(_) => 400,
            PageError::Log(LogError::NoSuchRun { .. }) => 404,
            PageError::Log(_) | PageError::Template(_) | PageError::Json(_) => 500,
        }
    }

    /// There is no such thing.
    pub(crate) fn none(what: &str, name: &str) -> Self {
        PageError::NotFound(format!("there is no {what} {}", inert(name, 100)))
    }
}

impl From<AuditError> for PageError {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Log(error) => PageError::Log(error),
            other => PageError::NotFound(other.to_string()),
        }
    }
}
