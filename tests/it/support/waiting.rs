//! Waiting for what must happen: a test that waits forever says nothing.

use std::process::{Child, Output};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Long enough for the slowest machine, and longer if somebody asks for a larger study.
fn patience() -> Duration {
    Duration::from_secs(600 + 60 * asked_participants().unwrap_or(0))
}

/// How many participants there are to be in each condition of a deliberation that is recorded on many machines, if the
/// environment says so: `RETOLD_TEST_PARTICIPANTS=300` makes it one of 1,200.
#[expect(clippy::disallowed_methods, reason = "how somebody asks for more")]
pub(crate) fn asked_participants() -> Option<u64> {
    std::env::var("RETOLD_TEST_PARTICIPANTS").ok()?.parse().ok()
}

/// What is there after a while; panics if it does not come.
#[expect(clippy::disallowed_methods, reason = "a test must end")]
pub(crate) fn soon<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let (begin, patience) = (Instant::now(), patience());
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < patience, "after {patience:?} still not there: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a process that runs until it is interrupted; one that hangs is killed.
#[expect(clippy::disallowed_methods, reason = "a test must end")]
pub(crate) fn end(child: &mut Child) {
    let (begin, patience) = (Instant::now(), patience());
    let asked = kill_process(Pid::from_child(child), Signal::INT).is_ok();
    while asked && begin.elapsed() < patience && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(1));
    }
    // It has ended, or never will.
    let _ = child.kill();
    let _ = child.wait();
}

/// What a process has said once it has ended; one that hangs is killed, and the test fails.
pub(crate) fn ended(child: Child) -> Output {
    let (end, has_ended) = channel::<()>();
    let (id, patience) = (Pid::from_child(&child), patience());
    let watch = std::thread::spawn(move || {
        let hangs = has_ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        hangs.then(|| kill_process(id, Signal::KILL))
    });
    let output = child.wait_with_output().unwrap();
    drop(end);
    let killed = watch.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(killed.is_none(), "it had not ended after {patience:?} and was killed: {said}");
    output
}
