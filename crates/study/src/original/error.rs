//! Why an original run cannot be read.

use std::path::Path;

use retold::encoding::NotUtf8;

/// Why an original run cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginalError {
    /// A file or folder is missing or cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// The problem.
        reason: String,
    },
    /// A line of a file does not have the expected contents.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// The problem.
        reason: String,
    },
    /// Files or values are inconsistent.
    #[error("{path}: {reason}")]
    Inconsistent {
        /// The file or folder.
        path: String,
        /// The inconsistency.
        reason: String,
    },
}

impl OriginalError {
    /// A file or folder that cannot be read.
    pub fn unreadable(path: &Path, reason: impl Into<String>) -> Self {
        OriginalError::Unreadable { path: path.display().to_string(), reason: reason.into() }
    }

    /// A line of a file that does not have the expected contents.
    pub fn line(path: &Path, line: u64, reason: impl Into<String>) -> Self {
        OriginalError::Line { path: path.display().to_string(), line, reason: reason.into() }
    }

    /// A file or folder that is inconsistent with the others.
    pub fn inconsistent(path: &Path, reason: impl Into<String>) -> Self {
        OriginalError::Inconsistent { path: path.display().to_string(), reason: reason.into() }
    }

    /// A file in another encoding.
    #[must_use]
    pub fn not_utf8(path: String, problem: NotUtf8) -> Self {
        let NotUtf8 { line, reason } = problem;
        match line {
            Some(line) => OriginalError::Line { path, line, reason },
            None => OriginalError::Inconsistent { path, reason },
        }
    }
}
