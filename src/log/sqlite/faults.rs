//! The meaning of SQLite's errors for a log.

use rusqlite::ErrorCode;

use super::sqlite_error::{is_damage, message};
use super::{SqliteBackend, busy, header, unwritable};
use crate::log::error::{LogError, NoRoom, RewordedError};
use crate::log::finding::FileFault;
use crate::sidecar::{self, SidecarError};

impl SqliteBackend {
    /// The error to report instead of anything that follows from it.
    pub(super) fn header_is_damaged(&self) -> Option<LogError> {
        Some(LogError::damage(self.name(), header::damage(&self.path)?))
    }

    /// The error to report for a file that cannot be read because its end is missing.
    fn is_cut_off(&self) -> Option<LogError> {
        Some(LogError::damage(self.name(), header::cut_off(&self.path)?))
    }

    /// A link in place of one of SQLite's own files, which SQLite refuses without naming it.
    fn link_beside(&self) -> Option<LogError> {
        let log = sidecar::canonical(&self.path);
        let path = ["-wal", "-shm", "-journal"]
            .map(|suffix| sidecar::path(&log, suffix))
            .into_iter()
            .find(|path| path.is_symlink())?;
        let path = path.display().to_string();
        Some(SidecarError::Link { path }.into())
    }

    /// What an SQLite error means for the log.
    pub(super) fn error(&self, error: rusqlite::Error) -> LogError {
        let path = self.name();
        // A file that is only read is named by a URI.
        let whole = sidecar::canonical(&self.path);
        let words = [unwritable::NO_CHANGES, unwritable::NO_LOCKS]
            .into_iter()
            .fold(message(&error), |words, way| {
                words.replace(&unwritable::uri(&whole, way), &path)
            });
        if busy::is_locked(&error) {
            return LogError::Busy { path, seconds: self.busy().as_secs() };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => LogError::Full {
                path,
                why: self.options.max_bytes.map_or(NoRoom::Disk, NoRoom::DiskOrLimit),
            },
            Some(ErrorCode::NotADatabase) => {
                let damaged = self.header_is_damaged().or_else(|| self.is_cut_off());
                let reason = "it is not an SQLite file".to_owned();
                damaged.unwrap_or(LogError::NotALog { path, reason })
            }
            Some(ErrorCode::OperationInterrupted) => LogError::damage(path, FileFault::Endless),
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                // SQLite does not write files with a version that it does not know.
                let damaged = self.header_is_damaged();
                damaged.or_else(|| self.link_beside()).unwrap_or_else(|| {
                    LogError::cannot_open(path, RewordedError { words, source: error })
                })
            }
            // A type mismatch, too, means that the file is damaged.
            _ if is_damage(&error) => self.header_is_damaged().unwrap_or_else(|| {
                let fault = match words.starts_with(MALFORMED_SCHEMA) {
                    true => FileFault::Schema { says: words },
                    false => FileFault::Database { says: words },
                };
                LogError::damage(path, fault)
            }),
            _ => LogError::failure(path, RewordedError { words, source: error }),
        }
    }
}

/// How SQLite's message about an entry of the schema that it cannot read begins: the only sign of it, since the
/// code is that of any damage.
const MALFORMED_SCHEMA: &str = "malformed database schema";
