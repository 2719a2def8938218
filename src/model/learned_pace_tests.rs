//! How runs fare with providers that limit how much is asked, in simulated time.

use std::cell::RefCell;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tokio::time::Instant;

use super::failure::{Failure, FailureKind};
use super::throttle::{Limits, Throttle};

/// What becomes of calls to a provider.
struct Outcome {
    /// How often each call was refused.
    refused: Vec<u32>,
    seconds: f64,
}

/// Whether an attempt at a time after the first is accepted.
type Accepts = Box<dyn FnMut(Duration) -> bool>;

/// Calls that are all made at once.
struct Calls {
    count: u32,
    concurrency: usize,
    /// How long the provider takes for an answer, in seconds. It refuses at once.
    latency: f64,
    /// The longest wait after a refusal, in seconds.
    longest: f64,
    /// Answers take up to a half more or less, and now and then the machine is busy with something else.
    is_uneven: bool,
}

impl Calls {
    /// Asks a provider; `accepts` says whether it accepts an attempt at that time.
    async fn ask(&self, accepts: impl FnMut(Duration) -> bool) -> Outcome {
        let Calls { count, concurrency, latency, longest, is_uneven } = *self;
        let throttle = Throttle::new(&Limits { concurrency, ..Limits::default() }).unwrap();
        let start = Instant::now();
        let (accepts, random) = (RefCell::new(accepts), RefCell::new(ChaCha8Rng::seed_from_u64(1)));
        let sleep = async |seconds: f64| tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        let share = || f64::from(random.borrow_mut().next_u32()) / f64::from(u32::MAX);
        let call = async || {
            let mut refused = 0;
            loop {
                let permit = throttle.acquire().await;
                if is_uneven {
                    sleep((1.5 - start.elapsed().as_secs_f64() % 23.0).max(0.0)).await;
                }
                let attempt = async {
                    if (accepts.borrow_mut())(start.elapsed()) {
                        sleep(if is_uneven { latency * (0.5 + share()) } else { latency }).await;
                        return Ok(());
                    }
                    sleep(latency.min(0.02)).await;
                    Err(Failure::new(FailureKind::RateLimited, "slow down"))
                };
                if throttle.watch(attempt).await.is_ok() {
                    return refused;
                }
                drop(permit);
                let wait = longest.min(2_f64.powi(refused + 1) * (1.0 + share()));
                throttle.pause(Duration::from_secs_f64(wait)).await;
                refused += 1;
            }
        };
        let refused = futures::future::join_all((0..count).map(|_| call())).await;
        let refused = refused.into_iter().map(i32::cast_unsigned).collect();
        Outcome { refused, seconds: start.elapsed().as_secs_f64() }
    }
}

/// A provider that accepts so many attempts in each window of so many seconds; the first window began `since` seconds
/// before.
fn windows(accepts: f64, seconds: f64, since: f64) -> impl FnMut(Duration) -> bool {
    let mut window = (0.0, 0.0);
    move |now| {
        let current = ((now.as_secs_f64() + since) / seconds).floor();
        if window.0 != current {
            window = (current, 0.0);
        }
        window.1 += 1.0;
        window.1 <= accepts
    }
}

/// A provider that accepts so many attempts in a second, and after a pause up to `most` at once: a bucket of tokens.
fn bucket(rate: f64, most: f64) -> impl FnMut(Duration) -> bool {
    let mut tokens = (Duration::ZERO, most);
    move |now| {
        let more = rate * (now - tokens.0).as_secs_f64();
        tokens = (now, most.min(tokens.1 + more));
        let accepts = tokens.1 >= 1.0;
        tokens.1 -= f64::from(u8::from(accepts));
        accepts
    }
}

/// A provider that refuses the first attempts, but none after so many seconds.
fn outage(refusals: u32, seconds: f64) -> impl FnMut(Duration) -> bool {
    let mut attempts = 0;
    move |now| {
        attempts += 1;
        attempts > refusals || now.as_secs_f64() >= seconds
    }
}

/// However a provider counts, no call is given up (after six refusals), and all take not much longer than they must.
#[tokio::test(start_paused = true)]
async fn rate_limits_are_learned() {
    for latency in [0.02, 5.0] {
        for rate in [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0, 300.0_f64] {
            let (count, most) = ((rate * 120.0).max(60.0) as u32, rate.max(1.0));
            let calls = Calls { count, concurrency: 64, latency, longest: 120.0, is_uneven: true };
            let second = |since| windows(most, (1.0 / rate).max(1.0), since);
            let providers: [(&str, Accepts); 6] = [
                ("windows of a second", Box::new(second(0.0))),
                ("windows that began before", Box::new(second(0.5))),
                ("windows that are nearly over", Box::new(second(0.9))),
                ("a bucket", Box::new(bucket(rate, most))),
                ("a bucket of ten seconds", Box::new(bucket(rate, most * 10.0))),
                ("windows of a minute", Box::new(windows(rate * 60.0, 60.0, 0.0))),
            ];
            for (name, accepts) in providers {
                let outcome = calls.ask(accepts).await;
                let least = f64::from(count) / rate.min(64.0 / latency);
                let (worst, ratio) = (outcome.refused.iter().max(), outcome.seconds / least);
                let most = if rate < 0.5 { 5 } else { 4 };
                let provider = format!("{name}, {rate} in a second, {latency} s for an answer");
                assert!(worst <= Some(&most), "{provider}: {worst:?} refusals");
                assert!(ratio < 2.0, "{provider}: {ratio} of the least time");
            }
        }
    }
}

/// Refusals at the beginning of a run cost it no more than the time in which the provider refuses, and a few seconds.
#[tokio::test(start_paused = true)]
async fn a_short_run_loses_little_more_than_the_outage() {
    for count in [12, 200] {
        for concurrency in [1, 8, 64] {
            for latency in [0.02, 1.0, 10.0] {
                let calls = Calls { count, concurrency, latency, longest: 120.0, is_uneven: false };
                let least = calls.ask(|_| true).await.seconds;
                for seconds in [2.0, 10.0, 60.0, f64::INFINITY] {
                    let always = (seconds < f64::INFINITY).then_some(u32::MAX);
                    for refusals in [1, 2, 5, 8, 12, 20].into_iter().chain(always) {
                        let outcome = calls.ask(outage(refusals, seconds)).await;
                        let (lost, worst) = (outcome.seconds - least, outcome.refused.iter().max());
                        let case = format!(
                            "{count} calls, {concurrency} at once, {latency} s for an answer, \
                             {refusals} refusals in {seconds} s"
                        );
                        // A provider that counts its refusals is asked again about every half second.
                        let outage = seconds.min(0.75 * f64::from(refusals));
                        assert!(lost < outage + 6.0, "{case}: {lost} s lost");
                        assert!(worst < Some(&5), "{case}: {worst:?} refusals");
                    }
                }
            }
        }
    }
}

/// A provider that refuses every third attempt, however slowly it is asked: spacing does not help, and
/// costs little.
#[tokio::test(start_paused = true)]
async fn refusals_without_a_rate_do_not_slow_a_run_down() {
    let mut attempts = 0;
    let calls =
        Calls { count: 100_000, concurrency: 64, latency: 0.02, longest: 4.0, is_uneven: true };
    let Outcome { seconds, .. } = calls
        .ask(|_| {
            attempts += 1;
            attempts % 3 != 0
        })
        .await;
    // 150,000 attempts at 3,200 in a second, and the last retries.
    assert!((46.0..150.0).contains(&seconds), "{seconds} s");
}
