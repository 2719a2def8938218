//! This test binary, started again as another process that runs one test and can be killed.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TASK: &str = "RETOLD_TEST_CHILD";

/// Another process; what it prints goes to a file.
pub(crate) struct Process {
    child: Child,
    said: PathBuf,
}

/// Starts the test `name` as a process of its own with a task.
pub(crate) fn start(name: &str, task: &str, said: &Path) -> Process {
    start_with(name, task, said, |_| {})
}

/// Starts it with an environment of its own.
pub(crate) fn start_with(
    name: &str,
    task: &str,
    said: &Path,
    surroundings: impl FnOnce(&mut Command),
) -> Process {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(TASK, task);
    command.stdin(Stdio::null()).stdout(File::create(said).unwrap()).stderr(Stdio::null());
    surroundings(&mut command);
    Process { child: command.spawn().unwrap(), said: said.to_owned() }
}

/// The task that this process was started for; `None` in the tests proper.
#[expect(clippy::disallowed_methods, reason = "how a process started by a test knows its task")]
pub(crate) fn task() -> Option<String> {
    std::env::var(TASK).ok()
}

/// Sends a line to the process that started this one, in a single write.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("@{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

impl Process {
    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Everything it has printed so far, without a line that was cut off by its death.
    pub(crate) fn said(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.said).unwrap();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(|line| Some(line.split_once('@')?.1.to_owned())).collect()
    }

    /// Waits until it has printed a line.
    pub(crate) fn hear(&self, line: &str) {
        self.wait_for(line, |said| said.iter().any(|said| said == line));
    }

    /// Waits until it has printed `count` lines that contain a text, or has ended.
    pub(crate) fn hear_so_many(&self, text: &str, count: u64) {
        self.wait_for(text, |said| {
            let heard = said.iter().filter(|line| line.contains(text)).count();
            heard as u64 >= count || said.iter().any(|line| line.starts_with("ended"))
        });
    }

    fn wait_for(&self, what: &str, heard: impl Fn(&[String]) -> bool) {
        for _ in 0..60_000 {
            if heard(&self.said()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("it never said {what:?}");
    }

    /// Kills it immediately (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) {
        assert!(self.child.wait().unwrap().success(), "{:?}", self.said());
    }
}
