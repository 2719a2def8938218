//! Whether the files of a log are as they were.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retold::run::clock;
use retold::sidecar;
use serde::{Deserialize, Serialize};

/// The longest WAL that is looked at, in bytes: it is merged into the log when it has 4 MB, unless a reader
/// keeps it from that.
const LONGEST_WAL: u64 = 64 << 20;

/// A log's file, and its WAL if that has anything in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    log: FileState,
    wal: Option<WalState>,
}

/// The contents of a WAL: its times do not say whether it was changed, since SQLite gives it to the owner of the log
/// each time that root opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WalState {
    bytes: u64,
    /// BLAKE3 of all of it.
    hash: String,
}

impl WalState {
    fn new(wal: &Path, found: &Metadata) -> io::Result<Self> {
        let bytes = found.len();
        if !found.is_file() || bytes > LONGEST_WAL {
            return Err(io::Error::other("its WAL is too large, or is not a file"));
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(wal)?.take(LONGEST_WAL))?;
        Ok(WalState { bytes, hash: hasher.finalize().to_hex().to_string() })
    }
}

/// Which file it is, and when it was last changed. Whoever writes to the file cannot restore all of this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    /// The numbers of its device and inode; 0 on systems that have none.
    id: (u64, u64),
    bytes: u64,
    /// When its contents were changed, in nanoseconds since 1970.
    modified: u64,
    /// When its contents or its metadata were last changed: a time that programs cannot set. 0 on systems that
    /// have none.
    changed: u64,
}

impl FileState {
    fn new(found: &Metadata) -> io::Result<Self> {
        let modified = nanoseconds(found.modified()?);
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            let seconds = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or(0));
            let rest = Duration::from_nanos(u64::try_from(found.ctime_nsec()).unwrap_or(0));
            nanoseconds(UNIX_EPOCH + seconds + rest)
        };
        #[cfg(not(unix))]
        let changed = 0;
        Ok(FileState { id: id(found), bytes: found.len(), modified, changed })
    }
}

/// The numbers of a file's device and inode; 0 on systems that have none.
pub(crate) fn id(found: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (found.dev(), found.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        (0, 0)
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl FileStamp {
    /// How the files of a log are now.
    ///
    /// # Errors
    /// They cannot be looked at.
    pub fn new(log: &Path) -> io::Result<Self> {
        let wal = sidecar::path(log, "-wal");
        let wal = match std::fs::metadata(&wal) {
            Ok(found) if found.len() > 0 => Some(WalState::new(&wal, &found)?),
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(FileStamp { log: FileState::new(&std::fs::metadata(log)?)?, wal })
    }

    /// How large they are together.
    pub(crate) fn bytes(&self) -> u64 {
        self.log.bytes + self.wal.as_ref().map_or(0, |wal| wal.bytes)
    }

    /// The time since the contents of a log's files were last changed. `None` if that is in the future: then the
    /// clocks differ.
    pub(crate) fn age(&self, log: &Path) -> Option<Duration> {
        // An empty one comes and goes with readers, such as this one.
        let wal = std::fs::metadata(sidecar::path(log, "-wal")).ok();
        let wal = wal.filter(|found| found.len() > 0).and_then(|found| found.modified().ok());
        let last = self.log.modified.max(self.log.changed).max(wal.map_or(0, nanoseconds));
        // The end of this millisecond: a change in it is not in the future.
        let now = Duration::from_millis(u64::try_from(clock::now().0).ok()? + 1);
        now.checked_sub(Duration::from_nanos(last))
    }
}
