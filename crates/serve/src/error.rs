//! Why a page cannot be shown.

use retold::audit::AuditError;
use retold::escaping::printable;
use retold::id::Seq;
use retold::log::LogError;

use crate::facts::StateError;

/// Why a page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// The page, run, event or participant of the address does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The request depends on an event that is damaged or missing.
    #[error("{message}")]
    Untrusted {
        /// The part that cannot be shown, and the reason.
        message: String,
        /// The last event before the damage; `None` if there is none.
        last_good: Option<Seq>,
    },
    /// A file of something that is still being read: half of it would pass for the whole.
    #[error("the run is still being read: try again in a few seconds")]
    StillRead,
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
            PageError::NotFound(_) | PageError::Untrusted { .. } => 404,
            PageError::StillRead => 503,
            PageError::BadRequest(_) => 400,
            // A damaged log is not an error of the server.
            PageError::Log(
                LogError::NoSuchRun { .. }
                | LogError::Corrupt { .. }
                | LogError::CorruptRequest { .. },
            ) => 404,
            PageError::Log(_) | PageError::Template(_) | PageError::Json(_) => 500,
        }
    }

    /// An address names something that does not exist: the place that was searched, the kind of thing, its name, and where
    /// to look instead.
    pub(crate) fn missing(place: &str, what: &str, name: &str, instead: &str) -> Self {
        PageError::NotFound(format!("{place} has no {what} {}: {instead}", printable(name, 100)))
    }
}

impl From<StateError> for PageError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Log(error) => PageError::Log(error),
            StateError::Json(error) => PageError::Json(error),
            broken @ StateError::Broken { .. } => PageError::NotFound(broken.to_string()),
        }
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
