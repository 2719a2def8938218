//! One process of a filter, within its limits.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[cfg(unix)]
use super::group::ProcessGroup;
use super::{FilterError, FilterSetup, OutputProblem, line};
use crate::decide::AnswerDecision;
use crate::escaping::printable;
use crate::jsonl::JsonlReader;

/// How often we check whether the filter has ended.
const STEP: Duration = Duration::from_millis(10);

/// How long its output may stay open after it has ended: the rest of a full pipe is read in that
/// time on a busy machine, too.
const GRACE: Duration = Duration::from_secs(2);

/// How much of its standard error is kept, in bytes.
const SAID: u64 = 4096;

/// One process: its command, and its limits.
pub(super) struct FilterProcess<'a> {
    pub(super) name: String,
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    pub(super) setup: &'a FilterSetup,
    pub(super) answers: usize,
}

/// What became of its output.
enum ProcessOutput {
    /// It was read to its end: the decisions, of which no more are kept than expected, and how many
    /// there were; or the first line that is not a decision.
    Whole(Result<(Vec<AnswerDecision>, usize), OutputProblem>),
    /// The filter has ended, and somebody else keeps it open.
    Held,
    TooMuch,
}

impl FilterProcess<'_> {
    /// Sends it some lines and reads its decisions.
    pub(super) fn over(&self, input: String) -> Result<Vec<AnswerDecision>, FilterError> {
        let most = self.setup.limits.bytes.saturating_add(4 * input.len() as u64);
        let mut process = self.start()?;
        let child = &mut process.child;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let said = child.stderr.take().map(|stderr| beside(move || beginning(stderr)));
        if let Some(mut stdin) = stdin {
            // A filter may close its input early; the number of lines that it writes shows whether
            // it was right to.
            beside(move || drop(stdin.write_all(input.as_bytes())));
        }
        let due = self.answers;
        let output = beside(move || stdout.map(|stdout| decisions(stdout, due, most)));
        let (mut left, mut grace) = (self.setup.limits.time, GRACE);
        let output = self.wait(&mut left, |step| match output.recv_timeout(step) {
            Err(RecvTimeoutError::Timeout) if process.has_ended() => {
                // Processes that it has started end with it, and no longer keep its output open.
                process.end_group();
                grace = grace.saturating_sub(step);
                grace.is_zero().then_some(ProcessOutput::Held)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Ok(Some(output)) => Some(output),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                Some(ProcessOutput::Whole(Ok((Vec::new(), 0))))
            }
        });
        let said = |wait: Duration| {
            let said = said.as_ref().and_then(|said| said.recv_timeout(wait).ok());
            said.filter(|said| !said.is_empty())
                .map_or_else(String::new, |said| format!("; it said: {said}"))
        };
        let name = self.name.clone();
        let decided = match output {
            Err(stopped) => {
                drop(process);
                return Err(self.stop_error(stopped, said(10 * STEP)));
            }
            Ok(ProcessOutput::TooMuch) => {
                return Err(FilterError::TooMuch { name, bytes: most, answers: self.answers });
            }
            Ok(ProcessOutput::Held) => Err(FilterError::Held { name }),
            Ok(ProcessOutput::Whole(Ok((decided, lines)))) if lines == self.answers => Ok(decided),
            Ok(ProcessOutput::Whole(Ok((_, lines)))) => {
                Err(FilterError::Count { name, lines, answers: self.answers })
            }
            Ok(ProcessOutput::Whole(Err(source))) => Err(FilterError::Output { name, source }),
        };
        let status = self.wait(&mut left, |step| {
            if process.has_ended() {
                return Some(process.end());
            }
            std::thread::sleep(step);
            None
        });
        let status = match status {
            Err(stopped) => {
                drop(process);
                return Err(self.stop_error(stopped, said(10 * STEP)));
            }
            Ok(status) => status,
        };
        // The exit status explains any fault in the output, so it comes first.
        match failure(status) {
            None => decided,
            Some(status) => {
                let said = said(100 * STEP);
                Err(FilterError::Failed { name: self.name.clone(), status, said })
            }
        }
    }

    fn start(&self) -> Result<Process, FilterError> {
        let mut command = Command::new(self.program);
        command.args(self.arguments).env_clear();
        command.envs(self.setup.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A process group of its own, so that any processes it starts are stopped with it. If
        // nobody can watch over the group, the filter leads it.
        #[cfg(unix)]
        let group = ProcessGroup::new().ok();
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(
            &mut command,
            group.as_ref().and_then(ProcessGroup::id).map_or(0, |id| id.as_raw_pid()),
        );
        let child = command
            .spawn()
            .map_err(|e| FilterError::Start { name: self.name.clone(), source: e })?;
        Ok(Process {
            child,
            #[cfg(unix)]
            group,
            is_reaped: false,
        })
    }

    /// Polls until there is a result, the time is up, or the user asks to stop.
    fn wait<T>(
        &self,
        left: &mut Duration,
        mut look: impl FnMut(Duration) -> Option<T>,
    ) -> Result<T, StopReason> {
        loop {
            if let Some(found) = look(STEP) {
                return Ok(found);
            }
            *left = left.saturating_sub(STEP);
            if left.is_zero() {
                return Err(StopReason::TimeIsUp);
            }
            if self.setup.stop.load(Ordering::SeqCst) {
                return Err(StopReason::Asked);
            }
        }
    }

    fn stop_error(&self, stopped: StopReason, said: String) -> FilterError {
        let name = self.name.clone();
        match stopped {
            StopReason::Asked => FilterError::Interrupted { name },
            StopReason::TimeIsUp => {
                let seconds = self.setup.limits.time.as_secs();
                FilterError::TimedOut { name, seconds, said }
            }
        }
    }
}

/// Why we stopped waiting.
enum StopReason {
    TimeIsUp,
    Asked,
}

/// How it ended, if that is a failure: its exit code, or the signal that ended it.
fn failure(status: io::Result<ExitStatus>) -> Option<String> {
    let status = match status {
        Ok(status) if status.success() => return None,
        Ok(status) => status,
        Err(e) => return Some(format!("ended, and the system does not say how: {e}")),
    };
    // The system's words: `signal: 9 (SIGKILL)`.
    let words = status.to_string();
    Some(match (status.code(), words.strip_prefix("signal: ")) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => format!("ended with {words}"),
    })
}

/// A process that is ended when we stop waiting for it, together with everything that it started.
struct Process {
    child: Child,
    /// The group that it is in, unless it leads one.
    #[cfg(unix)]
    group: Option<ProcessGroup>,
    /// Whether the system has forgotten it: from then on its number may be another's.
    is_reaped: bool,
}

impl Process {
    /// Whether it has ended by itself. It is not reaped, so nobody else gets its number, which may
    /// be its group's as well.
    fn has_ended(&mut self) -> bool {
        #[cfg(unix)]
        if let Some(pid) = self.pid() {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            return !matches!(waitid(WaitId::Pid(pid), look), Ok(None));
        }
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends everything in its group. What has begun a session of its own has left the group.
    fn end_group(&self) {
        #[cfg(unix)]
        match (&self.group, self.pid()) {
            (Some(group), _) => group.end(),
            (None, Some(own)) if !self.is_reaped => {
                let _ = rustix::process::kill_process_group(own, rustix::process::Signal::KILL);
            }
            (None, _) => {}
        }
    }

    /// Ends it and its group, and says how it ended.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_reaped {
            self.end_group();
            let _ = self.child.kill();
            self.is_reaped = true;
        }
        self.child.wait()
    }

    #[cfg(unix)]
    fn pid(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
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
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("");
    printable(last.trim(), 300)
}

/// The decisions that it writes, in at most `most` bytes.
fn decisions(stdout: impl Read + Send + 'static, due: usize, most: u64) -> ProcessOutput {
    let read = Arc::new(AtomicU64::new(0));
    let counted = CountedReader { inner: stdout, read: read.clone() };
    let mut stdout = SharedReader(Arc::new(Mutex::new(counted.take(most.saturating_add(1)))));
    let is_too_much = || read.load(Ordering::SeqCst) > most;
    let mut decided = Ok((Vec::new(), 0));
    for line in JsonlReader::from_reader("its output", stdout.clone()) {
        match (line, &mut decided) {
            _ if is_too_much() => return ProcessOutput::TooMuch,
            // Keep reading, since the program would take a closed pipe as an error.
            (Err(e), _) => {
                let _ = io::copy(&mut stdout, &mut io::sink());
                decided = decided.and(Err(e.into()));
            }
            (Ok(_), Err(_)) => {}
            (Ok(_), Ok((_, lines))) if *lines >= due => *lines += 1,
            (Ok((number, text)), Ok((list, lines))) => match line::read(&text) {
                Ok(one) => {
                    list.push(one);
                    *lines += 1;
                }
                Err(source) => decided = Err(OutputProblem::Line { line: number, source }),
            },
        }
    }
    if is_too_much() { ProcessOutput::TooMuch } else { ProcessOutput::Whole(decided) }
}

/// Something that is read to its end, whatever becomes of who reads it first.
struct SharedReader<R>(Arc<Mutex<R>>);

impl<R> Clone for SharedReader<R> {
    fn clone(&self) -> Self {
        SharedReader(self.0.clone())
    }
}

impl<R: Read> Read for SharedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
    }
}

/// Counts the bytes that are read.
struct CountedReader<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.fetch_add(n as u64, Ordering::SeqCst);
        Ok(n)
    }
}
