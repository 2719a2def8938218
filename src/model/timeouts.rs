//! Waiting for an answer, counting only the time in which this program runs.

use std::time::Duration;

use tokio::time::{Instant, timeout};

/// How much time is counted per tick.
const TICK: Duration = Duration::from_secs(1);

/// The time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeIsUp;

/// Runs a future with a time limit. Time in which the whole program was suspended does not count:
/// an answer that arrived meanwhile is in the socket, is paid for, and must be read first.
pub(crate) async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, TimeIsUp> {
    tokio::pin!(future);
    let mut left = limit;
    while !left.is_zero() {
        let tick = left.min(TICK);
        let start = Instant::now();
        if let Ok(output) = timeout(tick, &mut future).await {
            return Ok(output);
        }
        // A tick that took twice its time means that the program was suspended.
        if start.elapsed() < tick * 2 {
            left -= tick;
        }
    }
    Err(TimeIsUp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_is_kept_to() {
        let limit = Duration::from_millis(2500);
        let start = Instant::now();
        assert_eq!(within(limit, std::future::pending::<()>()).await, Err(TimeIsUp));
        assert!((2500..2510).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!(within(limit, tokio::time::sleep(Duration::from_millis(2400))).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_the_program_was_stopped_does_not_count() {
        let (send, receive) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(within(Duration::from_secs(2), receive));
        tokio::task::yield_now().await;
        // The clock jumps, as it does for a suspended program, and the answer is there afterwards.
        tokio::time::advance(Duration::from_secs(3600)).await;
        send.send("answer").unwrap();
        assert_eq!(waiting.await.unwrap(), Ok(Ok("answer")));
    }
}
