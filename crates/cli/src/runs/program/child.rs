//! The program itself: started, waited for, and told about signals.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use tokio::process::{Child, Command};

use super::environment::{EnvironmentChanges, search_path};
use crate::error::{CliError, Status};
use crate::signal::{Signals, StopSignal};
use crate::umask;
use retold::escaping::printable;

/// A hint for a person who may have expected a shell.
const NO_SHELL: &str = "the command after -- is started as it is, without a shell";

/// Starts a program with its own terminal.
pub(super) fn start(
    command: &[OsString],
    environment: EnvironmentChanges,
) -> Result<Child, CliError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(CliError::usage("there is no command after --"));
    };
    let EnvironmentChanges { set, unset } = environment;
    let mut command = Command::new(program);
    command.args(arguments).envs(set);
    for name in unset {
        command.env_remove(name);
    }
    umask::with_own(|| command.spawn()).map_err(|error| {
        let message = format!("cannot start {}: {error}", program.to_string_lossy());
        CliError::usage(message).hint(NO_SHELL)
    })
}

/// The first program of a name in PATH.
pub(crate) fn found_in_path(name: &Path) -> Option<PathBuf> {
    search_path().map(|folder| folder.join(name)).find(|place| is_program(place))
}

/// Refuses a program that cannot be started before a run is begun for it.
pub(super) fn require_program(command: &[OsString]) -> Result<(), CliError> {
    let Some(program) = command.first() else { return Ok(()) };
    let path = Path::new(program);
    let has_folder = path.components().count() > 1 || path.is_dir();
    let places: Vec<PathBuf> = match has_folder {
        true => vec![path.to_owned()],
        false => search_path().map(|folder| folder.join(path)).collect(),
    };
    if places.iter().any(|place| is_program(place)) {
        return Ok(());
    }
    let shown = printable(&path.to_string_lossy(), 200);
    let message = match places.iter().find(|place| place.exists()) {
        Some(place) => {
            format!(
                "{} is not a program that can be started",
                printable(&place.to_string_lossy(), 200)
            )
        }
        None if has_folder => format!("there is no program {shown}"),
        None => format!("there is no program {shown} in PATH"),
    };
    Err(CliError::usage(message).hint(NO_SHELL))
}

/// Whether a file can be started.
#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Names without their ending are found as well, and only the system knows which.
#[cfg(not(unix))]
fn is_program(_path: &Path) -> bool {
    true
}

/// Waits for a program, and passes on the signals that we get.
pub(super) async fn wait(child: &mut Child, mut signals: Signals) -> Result<ExitStatus, CliError> {
    loop {
        tokio::select! {
            status = child.wait() => {
                return status.map_err(|error| {
                    CliError::new(Status::Io, format!("cannot wait for the program: {error}"))
                });
            }
            received = signals.next() => pass_on(child, received),
        }
    }
}

/// How long a program that is stopped has to end by itself.
const ENDING: std::time::Duration = std::time::Duration::from_secs(5);

/// Stops a program: it is asked to end, and after a while it is ended.
pub(super) async fn stop(child: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    if tokio::time::timeout(ENDING, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}

#[cfg(unix)]
fn pass_on(child: &Child, received: StopSignal) {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::IsTerminal;
    // Ctrl-C and Ctrl-\ go to all in the foreground of a terminal, so the program has got them itself.
    let has_terminal = std::io::stdin().is_terminal()
        || std::io::stdout().is_terminal()
        || std::io::stderr().is_terminal();
    let signal = match received {
        StopSignal::Interrupt | StopSignal::Other(Signal::QUIT) if has_terminal => return,
        StopSignal::Interrupt => Signal::INT,
        StopSignal::Terminate => Signal::TERM,
        StopSignal::HangUp => Signal::HUP,
        StopSignal::Other(signal) => signal,
    };
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(not(unix))]
fn pass_on(_child: &Child, _received: StopSignal) {}

/// The first exit code that tells of a signal, which ended a program: 128 + the signal, as shells count.
pub(super) const FIRST_OF_SIGNALS: u8 = 128;

/// The exit code of a program.
pub(super) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
