//! The last writer of a run, for messages about runs that somebody else writes.

use std::fmt;

use crate::escaping::printable;
use crate::id::Time;

/// The process that wrote the last events of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWriter {
    /// The name of its machine, unchecked: escape it before printing.
    pub host: String,
    /// Its process id.
    pub pid: u32,
    /// When the last of the events happened, by its clock.
    pub at: Time,
    /// True if the process is alive; `None` if it ran on another machine.
    pub is_alive: Option<bool>,
}

impl fmt::Display for LastWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LastWriter { host, pid, at, is_alive: _ } = self;
        write!(f, "process {pid} on {} at {at}", printable(host, LONGEST_HOST))
    }
}

/// The longest host name that is shown; DNS allows no longer one (RFC 1035, section 2.3.4).
const LONGEST_HOST: usize = 255;
