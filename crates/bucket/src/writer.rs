//! Who writes a segment.

use std::fmt;

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
