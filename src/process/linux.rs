//! Linux, as proc(5) describes it. Nothing here depends on the clock.

use std::fs::{read_link, read_to_string};
use std::io::ErrorKind;
use std::path::Path;

use super::NumberedProcess;

/// The boot of this machine, and the namespaces of this process.
pub(super) fn place() -> Option<(String, String)> {
    let stat = read_to_string("/proc/self/stat").ok()?;
    // Another namespace's processes may be shown here, with other numbers.
    stat.split(' ').next().filter(|pid| pid.parse() == Ok(std::process::id()))?;
    let boot = read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
    // A start is counted in the namespace of time of whoever reads it, where there are such.
    let spaces = ["pid", "time"].map(|name| read_link(Path::new("/proc/self/ns").join(name)));
    let spaces = spaces.iter().flatten().map(|space| space.to_string_lossy().into_owned());
    Some((boot, spaces.collect::<Vec<_>>().join(" ")))
}

pub(super) fn by_pid(pid: u32) -> NumberedProcess {
    // It is not found if it ends before it is opened, and is gone (ESRCH) if it ends before it is read.
    const GONE: i32 = 3;
    match read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => of_stat(&stat),
        // Those of others may be hidden.
        Err(error) if error.kind() == ErrorKind::NotFound && Path::new("/proc/1").exists() => {
            NumberedProcess::Ended
        }
        Err(error) if error.raw_os_error() == Some(GONE) => NumberedProcess::Ended,
        Err(_) => NumberedProcess::Hidden,
    }
}

/// What `/proc/PID/stat` says. The name, which is in parentheses, may have anything in it.
fn of_stat(stat: &str) -> NumberedProcess {
    let mut fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    // Fields 3 and 22, counted from 1.
    match (fields.next(), fields.nth(18)) {
        // It has ended, and is shown until its parent has asked how.
        (Some("Z" | "X" | "x"), _) => NumberedProcess::Ended,
        (_, Some(start)) => NumberedProcess::Running(start.to_owned()),
        (_, None) => NumberedProcess::Hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let stat = |state: &str| {
            format!(
                "12 (a) Z 1 (b)) {state} 1 12 12 0 -1 4194304 105 0 0 0 0 0 0 0 20 0 1 0 8123456 2 3\n"
            )
        };
        assert_eq!(of_stat(&stat("S")), NumberedProcess::Running("8123456".to_owned()));
        assert_eq!(of_stat(&stat("Z")), NumberedProcess::Ended);
        assert_eq!(of_stat(""), NumberedProcess::Hidden);
    }
}
