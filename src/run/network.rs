//! Whether the network works, judged by the attempts of all calls.
//!
//! If the connection of one call fails, either there is an outage or the call itself is at fault;
//! which of the two shows only when another call is answered. Connection failures are therefore
//! counted over all calls: an answer resets the count, and a long row of failures ends the
//! execution, with the unanswered calls left for a resume. During such a row, attempts are made one
//! at a time, so that a server that went down is not flooded, and a short outage is waited out.

use std::cell::Cell;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard, Notify};
use tokio::time::{Instant, sleep_until};

use crate::model::{Failure, FailureKind};

/// The longest wait between two attempts while the network is out.
const LONGEST: Duration = Duration::from_secs(10);

/// The same while no attempt has been answered yet: a wrong address should be reported soon.
const LONGEST_AT_FIRST: Duration = Duration::from_millis(500);

/// How long an execution without any answer continues, per failure that it may meet: half a minute
/// for the usual twenty, however long one attempt to connect takes.
const AT_FIRST_EACH: Duration = Duration::from_millis(1500);

/// The state of the network, as the attempts of one execution have shown it.
#[derive(Debug)]
pub(super) struct Network {
    /// The number of consecutive failures that ends the execution.
    most: u32,
    /// The first wait of a row.
    base: Duration,
    /// Consecutive failures; simultaneous ones are counted once.
    row: Cell<u32>,
    /// All failures counted so far: attempts that began at the same count met the same failure.
    counted: Cell<u64>,
    /// Attempts that got through to the server.
    answers: Cell<u64>,
    /// Whether a call has failed in this row for which only the network can be to blame.
    innocent: Cell<bool>,
    /// When the row began.
    since: Cell<Option<Instant>>,
    /// When the next attempt of a row may begin.
    next: Cell<Option<Instant>>,
    /// Held by the one attempt that is under way while a row lasts.
    probing: Mutex<()>,
    answered: Notify,
}

/// The right to make one attempt.
pub(super) struct AttemptTurn<'a> {
    /// How many failures had been counted when it began.
    counted: u64,
    #[expect(dead_code, reason = "held for its drop")]
    probe: Option<MutexGuard<'a, ()>>,
}

/// The meaning of a connection failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureVerdict {
    /// Another call was answered meanwhile, so the fault may be this call's.
    OfTheCall,
    /// The network may be out: try again after this time.
    OfTheNetwork(Duration),
    /// There were too many failures in a row.
    TooMany(u32),
}

/// How many attempts had been answered when the network was last blamed for a failure of this call.
/// If others have been answered since then, the call itself is suspect.
#[derive(Debug, Default)]
pub(super) struct NetworkBlame(Option<u64>);

impl Network {
    pub(super) fn new(most: u32, base: Duration) -> Self {
        Network {
            most,
            base,
            row: Cell::new(0),
            counted: Cell::new(0),
            answers: Cell::new(0),
            innocent: Cell::new(false),
            since: Cell::new(None),
            next: Cell::new(None),
            probing: Mutex::new(()),
            answered: Notify::new(),
        }
    }

    /// Whether any attempt of this execution has been answered.
    pub(super) fn ever_answered(&self) -> bool {
        self.answers.get() > 0
    }

    /// Waits until an attempt may begin; returns at once while the network works.
    pub(super) async fn turn(&self) -> AttemptTurn<'_> {
        while self.row.get() > 0 {
            let answered = self.answered.notified();
            tokio::select! {
                biased;
                // All calls may continue.
                () = answered => {}
                probe = self.probe() => {
                    return AttemptTurn { counted: self.counted.get(), probe: Some(probe) };
                }
            }
        }
        AttemptTurn { counted: self.counted.get(), probe: None }
    }

    async fn probe(&self) -> MutexGuard<'_, ()> {
        let probe = self.probing.lock().await;
        if let Some(next) = self.next.get() {
            sleep_until(next).await;
        }
        probe
    }

    /// Notes that an attempt got through, with any reply of the server. True if that ended an
    /// outage worth reporting.
    pub(super) fn got_through(&self) -> bool {
        self.answers.set(self.answers.get() + 1);
        self.innocent.set(false);
        self.since.set(None);
        self.next.set(None);
        self.answered.notify_waiters();
        self.row.replace(0) >= WORTH_A_WORD
    }

    /// Whether a failure indicates that the network is out: a timeout does if connections fail as
    /// well.
    pub(super) fn concerns(&self, failure: &Failure) -> bool {
        match failure.kind {
            FailureKind::Connection => true,
            FailureKind::Timeout => self.row.get() > 0,
            _ => false,
        }
    }

    /// Notes a failure that [concerns](Self::concerns) the network.
    pub(super) fn record_failure(
        &self,
        turn: &AttemptTurn<'_>,
        blamed: &mut NetworkBlame,
    ) -> FailureVerdict {
        let now = Instant::now();
        // Attempts that were under way together fail together.
        if turn.counted == self.counted.get() {
            self.counted.set(turn.counted + 1);
            self.row.set(self.row.get() + 1);
        }
        let since = self.since.get().unwrap_or(now);
        self.since.set(Some(since));
        let row = self.row.get();
        let too_long = !self.ever_answered() && now - since >= AT_FIRST_EACH * self.most;
        if row >= self.most || too_long {
            return FailureVerdict::TooMany(row);
        }
        let wait = self.wait();
        self.next.set(Some(now + wait));
        let suspect = blamed.0.is_some_and(|answers| answers < self.answers.get());
        if suspect && !self.innocent.get() {
            return FailureVerdict::OfTheCall;
        }
        self.innocent.set(self.innocent.get() || !suspect);
        blamed.0 = Some(self.answers.get());
        FailureVerdict::OfTheNetwork(wait)
    }

    /// Whether the row of failures has just become long enough to be reported to the user.
    pub(super) fn is_worth_a_word(&self) -> bool {
        if self.ever_answered() { self.row.get() == WORTH_A_WORD } else { self.row.get() == 1 }
    }

    fn wait(&self) -> Duration {
        let longest = if self.ever_answered() { LONGEST } else { LONGEST_AT_FIRST };
        let doublings = self.row.get().saturating_sub(1).min(16);
        (self.base * 2_u32.pow(doublings)).min(longest)
    }
}

/// The number of consecutive failures, after an answered attempt, that is reported to the user.
const WORTH_A_WORD: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn network(most: u32) -> Network {
        Network::new(most, Duration::from_secs(2))
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_together_counts_once() {
        let network = network(3);
        let (mut one, mut other) = (NetworkBlame::default(), NetworkBlame::default());
        let (a, b) = (network.turn().await, network.turn().await);
        let first = network.record_failure(&a, &mut one);
        assert_eq!(first, network.record_failure(&b, &mut other));
        assert!(matches!(first, FailureVerdict::OfTheNetwork(_)));
        assert!(network.is_worth_a_word(), "nothing was ever answered");
        drop((a, b));
        let again = network.turn().await;
        assert!(matches!(
            network.record_failure(&again, &mut one),
            FailureVerdict::OfTheNetwork(_)
        ));
        drop(again);
        let third = network.turn().await;
        assert_eq!(network.record_failure(&third, &mut one), FailureVerdict::TooMany(3));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_are_made_one_by_one_until_one_is_answered() {
        let network = network(20);
        let mut blamed = NetworkBlame::default();
        let first = network.turn().await;
        network.record_failure(&first, &mut blamed);
        drop(first);
        let probe = network.turn().await;
        let second = tokio::time::timeout(Duration::from_secs(60), network.turn()).await;
        assert!(second.is_err(), "one is under way");
        network.got_through();
        drop(probe);
        let (_one, _other) = (network.turn().await, network.turn().await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_was_never_there_is_given_half_a_minute() {
        let network = network(20);
        let (mut blamed, start, mut attempts) = (NetworkBlame::default(), Instant::now(), 0);
        loop {
            let turn = network.turn().await;
            // A host that drops packets.
            tokio::time::sleep(Duration::from_secs(10)).await;
            attempts += 1;
            if let FailureVerdict::TooMany(row) = network.record_failure(&turn, &mut blamed) {
                assert_eq!(row, attempts);
                break;
            }
        }
        let took = start.elapsed().as_secs();
        assert!((30..=50).contains(&took), "{took} s, {attempts} attempts");
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_waited_out_for_minutes_once_the_server_was_there() {
        let network = network(20);
        network.got_through();
        let (mut blamed, start) = (NetworkBlame::default(), Instant::now());
        loop {
            let turn = network.turn().await;
            match network.record_failure(&turn, &mut blamed) {
                FailureVerdict::TooMany(row) => break assert_eq!(row, 20),
                verdict => {
                    assert!(matches!(verdict, FailureVerdict::OfTheNetwork(_)), "{verdict:?}")
                }
            }
        }
        assert_eq!(start.elapsed().as_secs(), 2 + 4 + 8 + 16 * 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_suspect_once_others_are_answered_and_none_else_fails() {
        let network = network(20);
        let (mut suspect, mut innocent) = (NetworkBlame::default(), NetworkBlame::default());
        let turn = network.turn().await;
        assert!(matches!(
            network.record_failure(&turn, &mut suspect),
            FailureVerdict::OfTheNetwork(_)
        ));
        drop(turn);
        network.got_through();
        let turn = network.turn().await;
        assert_eq!(network.record_failure(&turn, &mut suspect), FailureVerdict::OfTheCall);
        assert!(matches!(
            network.record_failure(&turn, &mut innocent),
            FailureVerdict::OfTheNetwork(_)
        ));
        let wait = network.record_failure(&turn, &mut suspect);
        assert!(
            matches!(wait, FailureVerdict::OfTheNetwork(_)),
            "another call fails as well: {wait:?}"
        );
    }
}
