//! `retold replay --sealed`: the same command where there is no network but loopback.

use crate::error::{CliError, Status};

/// Becomes this command without `--sealed`, in a network namespace that has loopback alone, by `unshare` of the system.
///
/// # Errors
/// The system has no such namespaces, or does not allow them.
#[cfg(target_os = "linux")]
pub(super) fn run() -> Result<Status, CliError> {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Brings loopback up, and becomes the command that follows.
    const BEGIN: &str = "ip link set lo up && exec \"$@\"";
    let sealed = || {
        let mut command = Command::new("unshare");
        command.args(["--net", "--map-root-user", "sh", "-c", BEGIN, "sh"]);
        command
    };
    let tried = sealed().arg("true").output();
    let done = tried.map_err(|error| not_allowed(&format!("unshare cannot be run: {error}")))?;
    if !done.status.success() {
        return Err(not_allowed(String::from_utf8_lossy(&done.stderr).trim()));
    }
    let mut is_before = true;
    let words = std::env::args_os().filter(|word| {
        let is_option = is_before && word == "--sealed";
        // What follows belongs to the program.
        is_before &= word != "--";
        !is_option
    });
    let error = sealed().args(words).exec();
    Err(not_allowed(&format!("unshare cannot be run: {error}")))
}

/// Only Linux has network namespaces.
#[cfg(not(target_os = "linux"))]
pub(super) fn run() -> Result<Status, CliError> {
    Err(not_allowed("network namespaces are part of Linux"))
}

fn not_allowed(why: &str) -> CliError {
    CliError::usage(format!("--sealed needs a network namespace of its own: {why}"))
        .hint("without --sealed, --watch counts what the command asks past retold")
        .hint("a container without a network does the same: `docker run --network none`")
}
