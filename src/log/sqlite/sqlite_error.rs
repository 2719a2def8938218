//! What an error of SQLite says, whatever log it is about.

use rusqlite::ErrorCode;

use crate::log::finding::FileFault;

/// Whether an error shows that the file is damaged: our queries are valid for every well-formed log.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), None | Some(ErrorCode::DatabaseCorrupt))
        || is_ill_asked(error)
}

/// Whether a query names a table or column that the file does not have.
fn is_ill_asked(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|e| e.extended_code & 0xff == rusqlite::ffi::SQLITE_ERROR)
}

/// What SQLite says, without the query.
pub(super) fn message(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        // Nobody but us interrupts it.
        other if other.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            FileFault::Endless.to_string()
        }
        other => other.to_string(),
    }
}
