//! Signals that ask the program to stop.

#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, time::Duration};

use retold::run::clock::Stopwatch;
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
#[cfg(unix)]
use tokio::signal::unix::SignalKind;

/// Whether the command ends by itself when a signal comes.
static ARE_AWAITED: AtomicBool = AtomicBool::new(false);

/// Whether the command passes on what only a program of ours can know.
#[cfg(unix)]
static ARE_PASSED_ON: AtomicBool = AtomicBool::new(false);

/// Whether a signal ends the command.
static HAS_COME: AtomicBool = AtomicBool::new(false);

/// The groups of processes that a signal ends with this one.
#[cfg(unix)]
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// How long a group may take to end once it was killed.
#[cfg(unix)]
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Ends a command that does not wait for signals when one comes, so that it leaves nothing and its log is in order: a signal
/// drops nothing by itself.
#[cfg(unix)]
pub(crate) fn tidy_up() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let Ok(runtime) = runtime else { return };
    std::thread::spawn(move || {
        let received = runtime.block_on(async {
            let mut signals = Signals::of(|kind| !is_ignored(kind));
            let is_ours = |other: &Signal| !is_ignored(SignalKind::from_raw(other.as_raw()));
            signals.add_others(OTHERS.into_iter().filter(is_ours));
            loop {
                let received = signals.next().await;
                if !is_awaited(received) {
                    break received;
                }
            }
        });
        HAS_COME.store(true, Ordering::SeqCst);
        retold::log::close_all();
        end_groups();
        retold::leftovers::remove_all();
        end(received);
    });
}

/// Whether the command itself does something about a signal.
#[cfg(unix)]
fn is_awaited(received: StopSignal) -> bool {
    match received {
        StopSignal::Other(signal) => {
            OF_PROGRAMS.contains(&signal) && ARE_PASSED_ON.load(Ordering::SeqCst)
        }
        StopSignal::Interrupt | StopSignal::Terminate | StopSignal::HangUp => {
            ARE_AWAITED.load(Ordering::SeqCst)
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn tidy_up() {}

/// Leaves it to the signal to end the command, if one has come: an error is only that it was stopped.
pub(crate) fn give_way() {
    while HAS_COME.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

/// Ends with the code that shells give to a command that a signal ended.
#[cfg(unix)]
#[expect(
    clippy::disallowed_methods,
    reason = "the command did not ask for signals, and ends by this one"
)]
fn end(received: StopSignal) {
    let number = match received {
        StopSignal::Interrupt => SignalKind::interrupt().as_raw_value(),
        StopSignal::Terminate => SignalKind::terminate().as_raw_value(),
        StopSignal::HangUp => SignalKind::hangup().as_raw_value(),
        StopSignal::Other(signal) => signal.as_raw(),
    };
    std::process::exit(128 + number);
}

/// A command that a signal ends with this one, and all that it has started: it would go on writing into files that are
/// removed. It leads a group of its own, so the terminal's Ctrl-C does not reach it by itself.
#[cfg(unix)]
pub(crate) fn start_owned(command: &mut Command) -> io::Result<OwnedChild> {
    let child = command.process_group(0).spawn()?;
    let group = Pid::from_child(&child);
    lock_groups().push(group);
    Ok(OwnedChild { child, group })
}

/// The same where there are no groups.
#[cfg(not(unix))]
pub(crate) fn start_owned(command: &mut Command) -> io::Result<OwnedChild> {
    Ok(OwnedChild { child: command.spawn()? })
}

/// See [`start_owned`].
pub(crate) struct OwnedChild {
    pub(crate) child: Child,
    #[cfg(unix)]
    group: Pid,
}

#[cfg(unix)]
impl Drop for OwnedChild {
    fn drop(&mut self) {
        lock_groups().retain(|group| *group != self.group);
    }
}

#[cfg(unix)]
fn lock_groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn end_groups() {
    let groups = lock_groups().clone();
    for group in &groups {
        // One that has ended is what was wanted.
        let _ = kill_process_group(*group, Signal::KILL);
    }
    let begin = Stopwatch::start();
    let is_there = |group: &Pid| test_kill_process_group(*group).is_ok();
    while groups.iter().any(is_there) && begin.elapsed() < LAST_MOMENT {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for Ctrl-C, for the SIGTERM with which a system ends programs, or for the SIGHUP of a
/// closing terminal. False if it cannot wait for any of them.
pub(crate) async fn wait_for_interrupt() -> bool {
    #[cfg(unix)]
    {
        tokio::select! {
            insisted = wait_for_termination() => insisted,
            () = hung_up() => true,
        }
    }
    #[cfg(not(unix))]
    wait_for_termination().await
}

/// Waits for Ctrl-C or SIGTERM. A closing terminal may send several SIGHUPs, which count as one.
pub(crate) async fn wait_for_termination() -> bool {
    ARE_AWAITED.store(true, Ordering::SeqCst);
    #[cfg(unix)]
    {
        use tokio::signal::unix::signal;
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            return tokio::select! {
                pressed = tokio::signal::ctrl_c() => pressed.is_ok(),
                sent = terminated.recv() => sent.is_some(),
            };
        }
    }
    tokio::signal::ctrl_c().await.is_ok()
}

/// Waits for SIGHUP; forever if the program was started to outlive its terminal, as with `nohup`.
#[cfg(unix)]
async fn hung_up() {
    use tokio::signal::unix::signal;
    if !is_ignored(SignalKind::hangup())
        && let Ok(mut hangups) = signal(SignalKind::hangup())
        && hangups.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}

/// Whether a signal is ignored, which a handler of ours would change. If this cannot be determined,
/// nothing is changed.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    let ignored = status
        .iter()
        .flat_map(|status| status.lines())
        .find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal 1 is the lowest bit.
    ignored.is_none_or(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}

/// A signal that asks us to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// The SIGTERM with which a system ends programs.
    Terminate,
    /// A closing terminal.
    HangUp,
    /// One that asks for something else, which only a program of ours can know: Ctrl-\\, or one of the two
    /// for users.
    #[cfg(unix)]
    Other(Signal),
}

/// Those that a program of ours may know.
#[cfg(unix)]
const OF_PROGRAMS: [Signal; 3] = [Signal::QUIT, Signal::USR1, Signal::USR2];

/// Those that end a program unless it asks for them.
#[cfg(unix)]
const OTHERS: [Signal; 6] =
    [Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::VTALARM, Signal::XCPU];

/// The signals that ask us to stop, one after the other.
pub(crate) struct Signals {
    #[cfg(unix)]
    all: Vec<(StopSignal, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// Listens from now on. Signals that cannot be listened for do what they always do.
    pub(crate) fn listen() -> Self {
        ARE_AWAITED.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        {
            // A program that was started with `nohup` is to outlive its terminal.
            Signals::of(|kind| kind != SignalKind::hangup() || !is_ignored(kind))
        }
        #[cfg(not(unix))]
        Signals {}
    }

    #[cfg(unix)]
    fn of(is_wanted: impl Fn(SignalKind) -> bool) -> Self {
        let kinds = [
            (StopSignal::Interrupt, SignalKind::interrupt()),
            (StopSignal::Terminate, SignalKind::terminate()),
            (StopSignal::HangUp, SignalKind::hangup()),
        ];
        let wanted = kinds.into_iter().filter(|(_, kind)| is_wanted(*kind));
        let listened = |(received, kind)| Some((received, tokio::signal::unix::signal(kind).ok()?));
        Signals { all: wanted.filter_map(listened).collect() }
    }

    /// The same, and those which are for a program that we have started.
    pub(crate) fn of_program() -> Self {
        #[cfg(unix)]
        {
            ARE_PASSED_ON.store(true, Ordering::SeqCst);
            let mut signals = Signals::listen();
            signals.add_others(OF_PROGRAMS);
            signals
        }
        #[cfg(not(unix))]
        Signals::listen()
    }

    #[cfg(unix)]
    fn add_others(&mut self, others: impl IntoIterator<Item = Signal>) {
        let listened = |other: Signal| {
            let kind = SignalKind::from_raw(other.as_raw());
            Some((StopSignal::Other(other), tokio::signal::unix::signal(kind).ok()?))
        };
        self.all.extend(others.into_iter().filter_map(listened));
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> StopSignal {
        #[cfg(unix)]
        {
            let next = std::future::poll_fn(|context| {
                for (received, signal) in &mut self.all {
                    if signal.poll_recv(context).is_ready() {
                        return std::task::Poll::Ready(*received);
                    }
                }
                std::task::Poll::Pending
            });
            next.await
        }
        #[cfg(not(unix))]
        {
            let _ = tokio::signal::ctrl_c().await;
            StopSignal::Interrupt
        }
    }
}
