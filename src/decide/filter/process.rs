//! One process of a filter, within its limits.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::{FilterError, FilterSetup, line};
use crate::decide::Decided;
use crate::inert::inert;
use crate::jsonl::JsonlReader;

/// How often we check whether the filter has ended.
const STEP: Duration = Duration::from_millis(10);

/// How much of its standard error is kept, in bytes.
const SAID: u64 = 4096;

/// One process: what is run, and its limits.
pub(super) struct Run<'a> {
    pub(super) name: String,
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    pub(super) setup: &'a FilterSetup,
    pub(super) answers: usize,
}

/// What became of its output.
enum Output {
    /// It could be read to its end: the decisions, of which no more are kept than expected, and how
    /// many there were; or the first line that is not a decision.
    Whole(Result<(Vec<Decided>, usize), String>),
    /// It cannot be read as lines.
    Unreadable(String),
    TooMuch,
}

impl Run<'_> {
    /// Sends it some lines and reads its decisions.
    pub(super) fn over(&self, input: String) -> Result<Vec<Decided>, FilterError> {
        let most = self.setup.limits.bytes.saturating_add(4 * input.len() as u64);
        let mut process = Process(self.start()?);
        let (stdin, stdout) = (process.0.stdin.take(), process.0.stdout.take());
        let said = process.0.stderr.take().map(|stderr| beside(move || beginning(stderr)));
        if let Some(mut stdin) = stdin {
            // A filter may close its input early; the number of lines that it writes shows whether
            // it was right to.
            beside(move || drop(stdin.write_all(input.as_bytes())));
        }
        let due = self.answers;
        let output = beside(move || stdout.map(|stdout| decisions(stdout, due, most)));
        let mut left = self.setup.limits.time;
        let output = self.wait(&mut left, |step| match output.recv_timeout(step) {
            Err(RecvTimeoutError::Timeout) => None,
            Ok(Some(output)) => Some(output),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                Some(Output::Whole(Ok(Default::default())))
            }
        });
        let said = |wait: Duration| {
            let said = said.as_ref().and_then(|said| said.recv_timeout(wait).ok());
            said.filter(|said| !said.is_empty()).map(|said| format!("; it said: {said}"))
        };
        let output = match output {
            Err(stopped) => {
                drop(process);
                return Err(self.stopped(stopped, said(10 * STEP).unwrap_or_default()));
            }
            Ok(Output::TooMuch) => {
                let (name, answers) = (self.name.clone(), self.answers);
                return Err(FilterError::TooMuch { name, bytes: most, answers });
            }
            Ok(Output::Unreadable(what)) => {
                return Err(FilterError::Output { name: self.name.clone(), what });
            }
            Ok(Output::Whole(decided)) => decided,
        };
        let status = self.wait(&mut left, |step| {
            let ended = process.0.try_wait();
            if matches!(ended, Ok(None)) {
                std::thread::sleep(step);
            }
            ended.transpose()
        });
        let status = match status {
            Err(stopped) => {
                drop(process);
                return Err(self.stopped(stopped, said(10 * STEP).unwrap_or_default()));
            }
            Ok(status) => status,
        };
        // Its exit status explains what is wrong with its output, so it comes first.
        if !status.as_ref().is_ok_and(ExitStatus::success) {
            let status = match status {
                Ok(status) => status.to_string(),
                Err(e) => e.to_string(),
            };
            let said = said(100 * STEP).unwrap_or_default();
            return Err(FilterError::Failed { name: self.name.clone(), status, said });
        }
        let name = self.name.clone();
        match output {
            Ok((decided, lines)) if lines == self.answers => Ok(decided),
            Ok((_, lines)) => Err(FilterError::Count { name, lines, answers: self.answers }),
            Err(what) => Err(FilterError::Output { name, what }),
        }
    }

    fn start(&self) -> Result<Child, FilterError> {
        let mut command = Command::new(self.program);
        command.args(self.arguments).env_clear();
        command.envs(self.setup.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A process group of its own, so that whatever it starts is stopped with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
            .spawn()
            .map_err(|e| FilterError::Start { name: self.name.clone(), reason: e.to_string() })
    }

    /// Polls until there is a result, the time is up, or the user asks to stop.
    fn wait<T>(
        &self,
        left: &mut Duration,
        mut look: impl FnMut(Duration) -> Option<T>,
    ) -> Result<T, Stopped> {
        loop {
            if let Some(found) = look(STEP) {
                return Ok(found);
            }
            *left = left.saturating_sub(STEP);
            if left.is_zero() {
                return Err(Stopped::TimeIsUp);
            }
            if self.setup.stop.load(Ordering::SeqCst) {
                return Err(Stopped::Asked);
            }
        }
    }

    fn stopped(&self, stopped: Stopped, said: String) -> FilterError {
        let name = self.name.clone();
        match stopped {
            Stopped::Asked => FilterError::Interrupted { name },
            Stopped::TimeIsUp => {
                let seconds = self.setup.limits.time.as_secs();
                FilterError::TimedOut { name, seconds, said }
            }
        }
    }
}

/// Why we stopped waiting.
enum Stopped {
    TimeIsUp,
    Asked,
}

/// A process that is ended when we stop waiting for it, together with everything that it started.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        #[cfg(unix)]
        if let Some(group) =
            i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs something on a thread of its own: filling one pipe while the other is full would block
/// forever.
fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (done, wait) = channel();
    std::thread::spawn(move || drop(done.send(work())));
    wait
}

/// The beginning of its standard error. The rest is read and dropped, so that the program does not
/// block.
fn beginning(mut stderr: impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stderr.by_ref().take(SAID).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    // The last line says what went wrong: in a traceback it is the error.
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    inert(last.trim(), 300)
}

/// The decisions that it writes, in at most `most` bytes.
fn decisions(stdout: impl Read + Send + 'static, due: usize, most: u64) -> Output {
    let read = Arc::new(AtomicU64::new(0));
    let counted = Counted { inner: stdout, read: read.clone() };
    let is_too_much = || read.load(Ordering::SeqCst) > most;
    let mut decided = Ok((Vec::new(), 0));
    for line in JsonlReader::from_reader("its output", counted.take(most.saturating_add(1))) {
        match (line, &mut decided) {
            _ if is_too_much() => return Output::TooMuch,
            (Err(e), _) => return Output::Unreadable(e.to_string()),
            // Keep reading, since the program would take a closed pipe as an error.
            (Ok(_), Err(_)) => {}
            (Ok(_), Ok((_, lines))) if *lines >= due => *lines += 1,
            (Ok((number, text)), Ok((list, lines))) => match line::read(&text) {
                Ok(one) => {
                    list.push(one);
                    *lines += 1;
                }
                Err(what) => decided = Err(format!("its output, line {number}: {what}")),
            },
        }
    }
    if is_too_much() { Output::TooMuch } else { Output::Whole(decided) }
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.fetch_add(n as u64, Ordering::SeqCst);
        Ok(n)
    }
}
