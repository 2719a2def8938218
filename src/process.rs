//! Which process is meant, and whether it is alive.
//!
//! The number of a process is given again to a later one, and clocks are set. So a process is known by its number, the boot
//! of its machine, and when it started, as the system itself counts that.

#[cfg_attr(target_os = "linux", path = "process/linux.rs")]
#[cfg_attr(target_os = "macos", path = "process/macos.rs")]
#[cfg_attr(not(any(target_os = "linux", target_os = "macos")), path = "process/unknown.rs")]
mod system;

use serde::{Deserialize, Serialize};

/// What distinguishes a process from all others that had, or will have, its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessStart {
    /// The boot of its machine.
    pub boot: String,
    /// The namespaces in which it has its number and its start, on systems that have several.
    pub namespace: String,
    /// When it started, as the system counts.
    pub start: String,
}

/// The system's answer about the number of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NumberedProcess {
    /// Nothing: the process may be hidden.
    Hidden,
    /// No process has it, or one that has ended.
    Ended,
    /// The process that has it started then.
    Running(String),
}

impl ProcessStart {
    /// That of this process; `None` where the system does not say it.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// That of the process with a number on this machine; `None` if there is none, or if the system does not say it.
    pub fn of(pid: u32) -> Option<Self> {
        let (boot, namespace) = system::place()?;
        match system::by_pid(pid) {
            NumberedProcess::Running(start) => Some(ProcessStart { boot, namespace, start }),
            NumberedProcess::Hidden | NumberedProcess::Ended => None,
        }
    }
}

/// Whether the process with a number on this machine is alive, of which the start may be known; `None` if that cannot be
/// found out here. One whose start is not known may be the process that has its number now.
pub fn is_alive(pid: u32, started: Option<&ProcessStart>) -> Option<bool> {
    // Without it, the numbers that the system shows may not be those that processes have here.
    let here = system::place()?;
    judge(pid, started, (std::process::id(), &here), &system::by_pid)
}

fn judge(
    pid: u32,
    started: Option<&ProcessStart>,
    (own_pid, here): (u32, &(String, String)),
    numbered: &dyn Fn(u32) -> NumberedProcess,
) -> Option<bool> {
    let Some(ProcessStart { boot, namespace, start }) = started else {
        // That it has our own number shows that it was in another namespace, or has ended.
        return if pid == own_pid { None } else { numbered(pid).is_running(|_| true) };
    };
    if (boot, namespace) != (&here.0, &here.1) {
        return None;
    }
    numbered(pid).is_running(|now| now == start)
}

impl NumberedProcess {
    fn is_running(&self, is_it: impl Fn(&String) -> bool) -> Option<bool> {
        match self {
            NumberedProcess::Hidden => None,
            NumberedProcess::Ended => Some(false),
            NumberedProcess::Running(start) => Some(is_it(start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(boot: &str, namespace: &str, start: &str) -> ProcessStart {
        let [boot, namespace, start] = [boot, namespace, start].map(str::to_owned);
        ProcessStart { boot, namespace, start }
    }

    #[test]
    fn a_process_is_known_by_its_start_and_not_by_its_number() {
        let here = ("boot 1".to_owned(), "pid:[1]".to_owned());
        let judged = |pid, of: Option<&ProcessStart>, now: NumberedProcess| {
            judge(pid, of, (7, &here), &|_| now.clone())
        };
        let running = |start: &str| NumberedProcess::Running(start.to_owned());
        let writer = started("boot 1", "pid:[1]", "200");
        assert_eq!(judged(8, Some(&writer), running("200")), Some(true));
        // Its number was given again.
        assert_eq!(judged(8, Some(&writer), running("201")), Some(false));
        assert_eq!(judged(8, Some(&writer), NumberedProcess::Ended), Some(false));
        assert_eq!(judged(8, Some(&writer), NumberedProcess::Hidden), None);
        // Of another boot, or of another container, nothing is known here.
        let earlier = started("boot 0", "pid:[1]", "200");
        assert_eq!(judged(8, Some(&earlier), running("200")), None);
        let contained = started("boot 1", "pid:[2]", "200");
        assert_eq!(judged(8, Some(&contained), NumberedProcess::Ended), None);
        // Of the first logs, which do not say when their writer started.
        assert_eq!(judged(8, None, running("200")), Some(true));
        assert_eq!(judged(8, None, NumberedProcess::Ended), Some(false));
        assert_eq!(judged(7, None, running("100")), None);
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    #[test]
    fn a_child_is_alive_until_it_has_ended_also_before_its_parent_asks() {
        use std::process::Command;
        let own = ProcessStart::own().unwrap();
        assert_eq!(ProcessStart::own(), Some(own.clone()), "it stays the same");
        assert_eq!(is_alive(std::process::id(), Some(&own)), Some(true));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let its = ProcessStart::of(child.id()).unwrap();
        assert_eq!(is_alive(child.id(), Some(&its)), Some(true));
        assert_eq!(is_alive(child.id(), None), Some(true));
        let other = ProcessStart { start: "0".to_owned(), ..own };
        assert_eq!(is_alive(child.id(), Some(&other)), Some(false));
        child.kill().unwrap();
        while is_alive(child.id(), Some(&its)) == Some(true) {
            std::thread::yield_now();
        }
        assert_eq!(is_alive(child.id(), Some(&its)), Some(false));
        child.wait().unwrap();
        assert_eq!(is_alive(child.id(), None), Some(false));
    }
}
