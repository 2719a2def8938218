//! Who writes a segment.

use std::fmt;

use retold::log::LogError;
use retold::process::{self, ProcessStart};
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
    /// When that started, where the system says it: the number alone is given again. The first logs do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started: Option<ProcessStart>,
}

impl Writer {
    pub(crate) fn new(name: &str) -> Result<Self, LogError> {
        let id = getrandom::u64().map_err(|error| LogError::failure(name, error))?;
        let (pid, started) = (std::process::id(), ProcessStart::own());
        Ok(Writer { id: format!("{id:016x}"), host: host(), pid, started })
    }

    /// Whoever compacts a run: the same for all, so that all write the same bytes.
    pub(crate) fn of_compactions() -> Self {
        Writer { id: String::new(), host: String::new(), pid: 0, started: None }
    }

    /// Whether it is this process.
    pub(crate) fn is_own(&self) -> bool {
        let Writer { id: _, host: of, pid, started } = self;
        let own = ProcessStart::own();
        *pid == std::process::id() && *started == own && (own.is_some() || *of == host())
    }

    /// Whether the process is alive; `None` if that cannot be known here.
    pub(crate) fn is_alive(&self) -> Option<bool> {
        // Where the boot of its machine is known, that machine may have got another name.
        match self.started.is_some() || self.host == host() {
            true => process::is_alive(self.pid, self.started.as_ref()),
            false => None,
        }
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Writer { id: _, host, pid, started: _ } = self;
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
