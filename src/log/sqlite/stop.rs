//! Why a transaction ended.

use crate::log::error::LogError;
use crate::prompt::CanonicalError;

/// Why a transaction ended.
pub(super) enum TransactionError {
    Sqlite(rusqlite::Error),
    Log(LogError),
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        TransactionError::Sqlite(error)
    }
}

impl From<CanonicalError> for TransactionError {
    fn from(error: CanonicalError) -> Self {
        TransactionError::Log(LogError::failure("", error))
    }
}
