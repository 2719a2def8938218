//! macOS, as ps(1) and sysctl(8) show it. The kernel keeps the time at which a process started, and clocks that are set later do
//! not change it.

use std::process::{Command, Output};

use super::NumberedProcess;

/// The boot of this machine; there are no namespaces.
pub(super) fn place() -> Option<(String, String)> {
    let boot = output("/usr/sbin/sysctl", &["-n", "kern.bootsessionuuid"])?;
    let boot = Some(boot).filter(|said| said.status.success())?.stdout;
    Some((String::from_utf8(boot).ok()?.trim().to_owned(), String::new()))
}

pub(super) fn by_pid(pid: u32) -> NumberedProcess {
    let said = output("/bin/ps", &["-o", "stat=,lstart=", "-p", &pid.to_string()]);
    let Some(said) = said else { return NumberedProcess::Hidden };
    let line = String::from_utf8_lossy(&said.stdout);
    match line.trim().split_once(char::is_whitespace) {
        Some((state, _)) if state.starts_with('Z') => NumberedProcess::Ended,
        Some((_, start)) => NumberedProcess::Running(start.trim().to_owned()),
        None => NumberedProcess::Ended,
    }
}

fn output(program: &str, args: &[&str]) -> Option<Output> {
    Command::new(program).args(args).env("LC_ALL", "C").env("TZ", "UTC0").output().ok()
}
