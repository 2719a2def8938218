//! The program itself: started, waited for, and told about signals.

use std::ffi::OsString;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

use crate::error::{CliError, Status};
use crate::signal::Received;

/// Starts a program with its own terminal.
pub(super) fn start(
    command: &[OsString],
    environment: Vec<(String, OsString)>,
) -> Result<Child, CliError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(CliError::usage("there is no command after --"));
    };
    Command::new(program).args(arguments).envs(environment).spawn().map_err(|error| {
        let message = format!("cannot start {}: {error}", program.to_string_lossy());
        CliError::usage(message).hint("the command after -- is started as it is, without a shell")
    })
}

/// Waits for a program, and passes on the signals that we get.
pub(super) async fn wait(child: &mut Child) -> Result<ExitStatus, CliError> {
    let mut signals = crate::signal::Signals::listen();
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

#[cfg(unix)]
fn pass_on(child: &Child, received: Received) {
    use rustix::process::{Pid, Signal, kill_process};
    use std::io::IsTerminal;
    let signal = match received {
        // A terminal sends it to the program itself, as to all in its foreground.
        Received::Interrupt if std::io::stdin().is_terminal() => return,
        Received::Interrupt => Signal::INT,
        Received::Terminate => Signal::TERM,
        Received::HangUp => Signal::HUP,
    };
    let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(pid) = pid {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(not(unix))]
fn pass_on(_child: &Child, _received: Received) {}

/// The exit code of a program; 128 + the signal that ended it, as shells count.
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
