//! Why a transaction ended.

use crate::log::error::LogError;
use crate::prompt::CanonicalError;

/// Why a transaction ended.
pub(super) enum Stop {
    Sqlite(rusqlite::Error),
    Log(LogError),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Sqlite(error)
    }
}

impl From<CanonicalError> for Stop {
    fn from(error: CanonicalError) -> Self {
        Stop::Log(LogError::Failed { path: String::new(), reason: error.to_string() })
    }
}
