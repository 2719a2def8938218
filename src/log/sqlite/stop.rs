//! Why a transaction ended.

use crate::log::error::LogError;
use crate::prompt::CanonicalError;

/// Why a transaction ended.
pub(super) enum Aborted {
    Sqlite(rusqlite::Error),
    Log(LogError),
}

impl From<rusqlite::Error> for Aborted {
    fn from(error: rusqlite::Error) -> Self {
        Aborted::Sqlite(error)
    }
}

impl From<CanonicalError> for Aborted {
    fn from(error: CanonicalError) -> Self {
        Aborted::Log(LogError::failed("", error))
    }
}
