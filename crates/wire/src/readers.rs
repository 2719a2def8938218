//! Readers of one log, for as many threads as read at the same time.

use std::sync::{Mutex, PoisonError};

use retold::log::{CheckedReader, Log, LogError};

/// Opened when one is wanted and none is idle.
pub(crate) struct Readers {
    log: Log,
    idle: Mutex<Vec<CheckedReader>>,
}

impl Readers {
    /// Readers of a log.
    pub(crate) fn of(log: &Log) -> Self {
        Readers { log: log.clone(), idle: Mutex::default() }
    }

    /// Reads.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be opened, or any error of `read`.
    pub(crate) fn with<T, E: From<LogError>>(
        &self,
        read: impl FnOnce(&mut CheckedReader) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut reader = match taken {
            Some(reader) => reader,
            None => CheckedReader::new(self.log.reader()?),
        };
        let result = read(&mut reader);
        idle().push(reader);
        result
    }
}
