//! How long it takes to list very many runs for the first time.
//!
//! `cargo bench -p retold-bucket --bench listing -- 20000` makes so many finished runs, which takes a
//! second for a thousand at first and more later: each new object of the ledger is found in a list.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

mod slow_store;

use std::sync::Arc;
use std::time::Duration;

use object_store::memory::InMemory;
use retold::event::NewEvent;
use retold::id::{RunId, Time};
use retold::log::{Append, Backend, Head};
use retold::run::clock::Stopwatch;
use retold_bucket::BucketBackend;
use serde_json::json;

use slow_store::{open, slow};

fn main() {
    let count = std::env::args().find_map(|word| word.parse::<u64>().ok()).unwrap_or(20_000);
    let store = Arc::new(InMemory::new());
    let begun = Stopwatch::start();
    let log = open(store.clone());
    (0..count).for_each(|number| record(&log, number));
    drop(log);
    println!("{count} runs made in {:.1} s\n", begun.elapsed().as_secs_f64());
    println!("| added to a request | list of {count} runs |\n|---|---|");
    for added in [0, 10, 50].map(Duration::from_millis) {
        let log = open(slow(&store, added));
        let begun = Stopwatch::start();
        let runs = log.reader().unwrap().runs().unwrap();
        assert_eq!(runs.len() as u64, count);
        println!("| {} ms | {:.2} s |", added.as_millis(), begun.elapsed().as_secs_f64());
    }
}

/// A run that begins with 1 kB of settings, and ends.
fn record(log: &BucketBackend, number: u64) {
    let run = RunId(number.to_be_bytes());
    let words: Vec<u64> =
        (0..50).map(|n| (number * 50 + n).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let settings = json!({"question": format!("{words:x?}"), "runs": 1});
    let first = json!({"experiment": "bench", "model": {"kind": "made-up"}, "program": "bench", "seed": number, "settings": settings});
    let mut head = Head::START;
    let events = [("RunStarted", first), ("RunFinished", json!({"outcome": "finished"}))];
    for (time, (kind, body)) in (1_700_000_000_000..).zip(events) {
        let event = NewEvent { body: body.to_string().into(), ..NewEvent::new(kind, Time(time)) };
        let append = Append::new(run, head, [event]);
        head = append.events.last().unwrap().head();
        log.committer().unwrap().commit(&[append]).unwrap();
    }
}
