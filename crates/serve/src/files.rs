//! Whether the files of a log are as they were.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retold::beside;
use retold::run::clock;
use serde::{Deserialize, Serialize};

/// A log's file and its WAL, if that has anything in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    log: FileState,
    wal: Option<FileState>,
}

/// Which file it is, and when it was changed: not to be had again by writing to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    /// Device and number; 0 where there is no such thing.
    id: (u64, u64),
    bytes: u64,
    /// When its contents were changed, in nanoseconds since 1970.
    modified: u64,
    /// When anything about it was changed, which no program can set; 0 where there is no such thing.
    changed: u64,
}

impl FileState {
    fn of(found: &Metadata) -> io::Result<Self> {
        let modified = nanoseconds(found.modified()?);
        #[cfg(unix)]
        let (id, changed) = {
            use std::os::unix::fs::MetadataExt;
            let seconds = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or(0));
            let rest = Duration::from_nanos(u64::try_from(found.ctime_nsec()).unwrap_or(0));
            ((found.dev(), found.ino()), nanoseconds(UNIX_EPOCH + seconds + rest))
        };
        #[cfg(not(unix))]
        let (id, changed) = ((0, 0), 0);
        Ok(FileState { id, bytes: found.len(), modified, changed })
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl Files {
    pub(crate) fn of(log: &Path) -> io::Result<Self> {
        let wal = match std::fs::metadata(beside::path(log, "-wal")) {
            Ok(found) if found.len() > 0 => Some(FileState::of(&found)?),
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Files { log: FileState::of(&std::fs::metadata(log)?)?, wal })
    }

    /// How large they are together.
    pub(crate) fn bytes(&self) -> u64 {
        self.states().map(|state| state.bytes).sum()
    }

    fn states(&self) -> impl Iterator<Item = &FileState> {
        std::iter::once(&self.log).chain(&self.wal)
    }

    /// How long ago they were last changed. `None` if that is in the future: then the clocks differ.
    pub(crate) fn age(&self) -> Option<Duration> {
        let last = self.states().map(|state| state.modified.max(state.changed)).max()?;
        let now = Duration::from_millis(u64::try_from(clock::now().0).ok()?);
        now.checked_sub(Duration::from_nanos(last))
    }
}
