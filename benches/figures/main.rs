//! `cargo bench --bench figures`: measures the table of docs/measurements.md again.
//!
//! Machines are shared and noisy: every figure is measured together with a reference in the same
//! process, and the ratio is what counts. Inputs are seeded; their sizes are those of the real
//! studies (prompts of about 1 kB, answers of 120 B to 1.4 kB, 64 calls in flight). `cargo bench
//! --bench figures -- append replay` measures some of them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

mod append;
mod bucket;
mod cluster;
mod declare;
mod deliberation;
mod disk;
mod fold;
mod hash;
mod http;
mod memory;
mod parse;
mod replay;
mod server;
mod state;
mod studies;
mod study;
mod writers;

use std::time::Duration;

// The program uses this allocator; so do the references.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let [child, path] = wanted.as_slice()
        && child == "memory-child"
    {
        return memory::child(path);
    }
    if wanted == ["http-server"] {
        return server::child();
    }
    if let [child, kind, path, number, events] = wanted.as_slice()
        && child == "writers-child"
    {
        let (number, events) = (number.parse().unwrap(), events.parse().unwrap());
        return writers::child(kind, path.as_ref(), number, events);
    }
    let all: [(&str, fn()); 14] = [
        ("append", append::measure),
        ("bucket", bucket::measure),
        ("declare", declare::measure),
        ("http", http::measure),
        ("replay", replay::measure),
        ("deliberation", deliberation::measure),
        ("fold", fold::measure),
        ("state", state::measure),
        ("cluster", cluster::measure),
        ("hash", hash::measure),
        ("parse", parse::measure),
        ("disk", disk::measure),
        ("memory", memory::measure),
        ("writers", writers::measure),
    ];
    println!("| figure | retold | reference | ratio |\n|---|---|---|---|");
    for (name, measure) in all {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure();
        }
    }
}

/// One line of the table.
fn row(figure: &str, ours: &str, reference: &str, ratio: f64) {
    println!("| {figure} | {ours} | {reference} | {ratio:.2} |");
}

/// Operations per second.
fn rate(operations: usize, took: Duration) -> f64 {
    operations as f64 / took.as_secs_f64()
}

/// The best of some runs: the one least disturbed by others on the machine.
fn best(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..runs).map(|_| run()).min().unwrap()
}

/// How long something takes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let watch = retold::run::clock::Stopwatch::start();
    let result = work();
    (result, watch.elapsed())
}
