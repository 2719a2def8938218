//! The real program, with its memory and its time measured.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::{Place, Said};

/// What a command printed, and what it used.
pub(crate) struct Measured {
    pub(crate) said: Said,
    /// The peak of its memory, in MB.
    pub(crate) peak: u64,
    pub(crate) seconds: f64,
}

/// How long a command may take on the busiest machine; one that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs a command to its end, or kills it when it hangs.
pub(crate) fn measured(place: &Place, args: &[&str]) -> Measured {
    let mut command = place.command();
    command.args(args);
    of(place, command)
}

/// Like [`measured`], for a command that is more than its arguments.
#[expect(clippy::disallowed_methods, reason = "how long a command takes is what is measured")]
pub(crate) fn of(place: &Place, mut command: Command) -> Measured {
    // Files, because a pipe that is not read would block the command.
    let (out, err) = (place.path("said.out"), place.path("said.err"));
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let begin = Instant::now();
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_of(&child));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it hangs: {command:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let seconds = begin.elapsed().as_secs_f64();
    let read = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let said = Said { code: status.code().unwrap_or(-1), out: read(out), err: read(err) };
    Measured { said, peak, seconds }
}

/// The peak memory that the system records for a process, in MB; 0 where it records none.
///
/// For a moment after `spawn` returns, the child may still have the memory of this process, whose
/// peak is that of other tests. It counts once it runs a program of its own.
fn peak_of(child: &Child) -> u64 {
    let program = std::fs::read_link(format!("/proc/{}/exe", child.id()));
    if program.is_ok_and(|program| Some(program) == std::env::current_exe().ok()) {
        return 0;
    }
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = mark.and_then(|mark| mark.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1000
}
