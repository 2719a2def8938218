//! `cargo bench --bench wire`: what stands between a program and its upstream costs.
//!
//! The upstream is a bare axum server that returns the same bytes for every request. Programs ask
//! it directly, through the least that a proxy can be, through a recorder that keeps every answer
//! durably, and, without it, from the recorded run. All of them run in one process, one after the
//! other in each round, so they meet the same disturbances; the ratio is what counts.
//!
//! `cargo bench --bench wire -- start` measures only how long it takes until a run of a million
//! exchanges is replayed, `-- traffic 256` only what 256 connections get, and `-- replay` or
//! `-- record` only replays or records, in more rounds.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

mod client;
mod proxy;
mod recorded;
mod start;
mod traffic;

// The program uses this allocator; so do the references.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let all = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let connections: Vec<usize> = wanted.iter().filter_map(|w| w.parse().ok()).collect();
    if all("traffic") {
        tokio.block_on(traffic::measure(&connections));
    }
    // The same again, so only on request.
    if wanted.iter().any(|w| w == "replay") {
        tokio.block_on(traffic::measure_replay(&connections));
    }
    if wanted.iter().any(|w| w == "record") {
        tokio.block_on(traffic::measure_record(&connections));
    }
    if all("start") {
        tokio.block_on(start::measure());
    }
}
