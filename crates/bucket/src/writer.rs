//! Who writes a segment.

use std::fmt;

use retold::id::Time;
use retold::log::LogError;
use serde::{Deserialize, Serialize};

/// One opening of a log by one process.
///
/// The random part distinguishes two writers that would otherwise write the same bytes: each must know whether an
/// object is its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writer {
    /// 16 random hex digits.
    pub(crate) id: String,
    /// The name of the machine.
    pub(crate) host: String,
    /// The process there.
    pub(crate) pid: u32,
}

impl Writer {
    pub(crate) fn new(name: &str) -> Result<Self, LogError> {
        let id = getrandom::u64().map_err(|error| LogError::failed(name, error))?;
        Ok(Writer { id: format!("{id:016x}"), host: host(), pid: std::process::id() })
    }
}

impl Writer {
    /// Whoever compacts a run: the same for all, so that all write the same bytes.
    pub(crate) fn of_compactions() -> Self {
        Writer { id: String::new(), host: String::new(), pid: 0 }
    }

    /// Whether it is, or was, a process on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.host == host()
    }

    /// Whether it is another process on this machine that is alive, and was when it wrote at that time.
    pub(crate) fn is_alive_here(&self, wrote: Time) -> bool {
        if !self.is_here() || self.pid == std::process::id() {
            return false;
        }
        // Linux shows processes here, with the time of their start; elsewhere nothing is known.
        let about = std::fs::metadata(format!("/proc/{}", self.pid));
        let began = about.ok().and_then(|about| about.modified().ok());
        let began = began.and_then(|began| began.duration_since(std::time::UNIX_EPOCH).ok());
        // A number is given again to a later process.
        began.is_some_and(|began| {
            i64::try_from(began.as_millis()).is_ok_and(|began| began <= wrote.0)
        })
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Writer { id: _, host, pid } = self;
        // It comes from an object that anyone may have written.
        write!(f, "process {pid} on {}", host.escape_debug())
    }
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    "an unnamed machine".to_owned()
}
