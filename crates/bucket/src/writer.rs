//! Who writes a segment.

use std::fmt;
use std::path::Path;
use std::time::UNIX_EPOCH;

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

    /// Whether the process is alive that wrote at that time; `None` if that cannot be known here.
    pub(crate) fn is_alive(&self, wrote: Time) -> Option<bool> {
        // Linux shows processes here, all of them unless it was told to hide those of others.
        let is_shown = || Path::new("/proc/1").exists();
        if !self.is_here() || !is_shown() {
            return None;
        }
        if self.pid == std::process::id() {
            return Some(true);
        }
        let folder = Path::new("/proc").join(self.pid.to_string());
        let began = std::fs::metadata(&folder).ok().and_then(|about| about.modified().ok());
        let began = began.and_then(|began| began.duration_since(UNIX_EPOCH).ok());
        // A number is given again to a later process.
        let was_there = began.is_some_and(|began| {
            i64::try_from(began.as_millis()).is_ok_and(|began| began <= wrote.0)
        });
        // One that has ended is shown until its parent has asked how: proc_pid_stat(5), state Z or X.
        let state = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        let state = state.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        Some(was_there && state.is_some_and(|state| !['Z', 'X', 'x'].contains(&state)))
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command};
    use std::time::Duration;

    use super::*;

    /// Whether the process of a child is alive, for somebody who comes later.
    fn is_alive(child: &Child) -> Option<bool> {
        let writer = Writer { id: String::new(), host: host(), pid: child.id() };
        writer.is_alive(Time(i64::MAX))
    }

    #[test]
    fn a_process_that_has_ended_is_not_alive_before_its_parent_asks() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(is_alive(&child), Some(true));
        child.kill().unwrap();
        let mut left = 1000;
        while is_alive(&child) == Some(true) && left > 0 {
            std::thread::sleep(Duration::from_millis(10));
            left -= 1;
        }
        assert_eq!(is_alive(&child), Some(false));
        child.wait().unwrap();
        let elsewhere = Writer { id: String::new(), host: "node7".to_owned(), pid: child.id() };
        assert_eq!(elsewhere.is_alive(Time(i64::MAX)), None);
    }
}
