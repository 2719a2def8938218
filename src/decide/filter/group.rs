//! The process group of a filter, which ends when this program ends, even if it is killed.

use std::io;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

/// Reads until its standard input ends, and then ends its group.
///
/// Nothing is ever written to that input, and only this program holds the other end of it, so it
/// ends with this program. Linux could signal the filter by itself (`PR_SET_PDEATHSIG`), but not
/// the processes that the filter has started, and only code between fork and exec could ask for it.
const UNTIL_THE_END: &str = "read -r line; kill -s KILL 0";

/// A process group, led by a process that ends it when this program ends.
#[derive(Debug)]
pub(super) struct ProcessGroup(Child);

impl ProcessGroup {
    /// A group without other members.
    ///
    /// # Errors
    /// The system has no shell, or starts no process.
    pub(super) fn new() -> io::Result<Self> {
        let mut leader = Command::new("/bin/sh");
        leader.args(["-c", UNTIL_THE_END]).env_clear().stdin(Stdio::piped());
        leader.stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut leader, 0);
        leader.spawn().map(ProcessGroup)
    }

    /// Its number, which nobody else gets before this value is dropped.
    pub(super) fn id(&self) -> Option<Pid> {
        i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
    }

    /// Ends everything in it. What has begun a session of its own has left the group.
    pub(super) fn end(&self) {
        if let Some(id) = self.id() {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
        let _ = self.0.wait();
    }
}
