//! Programs with one connection each, which send a prepared request as soon as they have the last
//! answer, or at a fixed rate. Each takes the next request that nobody has taken, so that they are
//! asked in order, as a program with workers does. They only look for the end of an answer, so that little of what is measured is theirs.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use retold::percentile::nearest_rank;
use retold::run::clock::Stopwatch;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Requests, as they are sent.
pub(crate) type Requests = Arc<[Vec<u8>]>;

/// Prompts of about a kilobyte: a text that all share, and one of their own.
pub(crate) fn requests(path: &str, count: usize) -> Requests {
    let common = "You take part in an experiment. Answer in one sentence. ".repeat(17);
    let request = |n: usize| {
        let body = serde_json::json!({
            "model": "gpt-4o-mini",
            "temperature": 1,
            "messages": [
                {"role": "system", "content": &common},
                {"role": "user", "content": format!("Question {n}: what do you contribute?")},
            ],
        });
        let body = body.to_string();
        let length = body.len();
        format!(
            "POST {path}/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer sk-bench\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    };
    (0..count).map(request).collect()
}

/// What some programs saw.
pub(crate) struct Seen {
    pub(crate) took: Duration,
    /// How many answers took how many nanoseconds.
    latencies: BTreeMap<u64, u64>,
}

impl Seen {
    pub(crate) fn rate(&self) -> f64 {
        self.latencies.values().sum::<u64>() as f64 / self.took.as_secs_f64()
    }

    /// In microseconds.
    pub(crate) fn percentile(&self, percent: u32) -> f64 {
        nearest_rank(&self.latencies, percent).unwrap_or(0) as f64 / 1e3
    }
}

/// Sends all requests, over a number of connections: each as soon as the one before it is answered,
/// or `every` so often.
pub(crate) async fn ask(
    to: SocketAddr,
    requests: &Requests,
    connections: usize,
    every: Option<Duration>,
) -> Seen {
    let mut streams = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(to).await.unwrap();
        stream.set_nodelay(true).unwrap();
        streams.push(stream);
    }
    let watch = Stopwatch::start();
    let next = Arc::new(AtomicUsize::new(0));
    let programs: Vec<_> = streams
        .into_iter()
        .zip(0..)
        .map(|(stream, first)| {
            // Programs do not all ask at the same moment.
            let start = Instant::now() + every.unwrap_or_default() * first / connections as u32;
            let ticks = every.map(|every| {
                let mut ticks = interval_at(start, every);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                ticks
            });
            tokio::spawn(program(stream, requests.clone(), next.clone(), ticks))
        })
        .collect();
    let mut latencies = BTreeMap::new();
    for program in programs {
        for latency in program.await.unwrap() {
            let nanoseconds = u64::try_from(Duration::as_nanos(&latency)).unwrap();
            *latencies.entry(nanoseconds).or_default() += 1;
        }
    }
    let took = watch.elapsed();
    Seen { took, latencies }
}

async fn program(
    mut stream: TcpStream,
    all: Requests,
    next: Arc<AtomicUsize>,
    mut ticks: Option<Interval>,
) -> Vec<Duration> {
    let (mut latencies, mut answer) = (Vec::new(), Vec::with_capacity(8192));
    while let Some(request) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
        if let Some(ticks) = &mut ticks {
            ticks.tick().await;
        }
        let watch = Stopwatch::start();
        stream.write_all(request).await.unwrap();
        answer.clear();
        while !is_whole(&answer) {
            assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "the server hung up");
        }
        latencies.push(watch.elapsed());
        let is_ok = answer.starts_with(b"HTTP/1.1 200 ");
        assert!(is_ok, "{}", String::from_utf8_lossy(&answer));
    }
    latencies
}

fn is_whole(answer: &[u8]) -> bool {
    let Some(head) = memchr::memmem::find(answer, b"\r\n\r\n") else { return false };
    let (lines, body) = answer.split_at(head + 4);
    let lines = String::from_utf8_lossy(lines).to_ascii_lowercase();
    let length = lines.lines().find_map(|line| line.strip_prefix("content-length: "));
    match length {
        Some(length) => body.len() >= length.trim().parse().unwrap(),
        None => body.ends_with(b"0\r\n\r\n"),
    }
}
