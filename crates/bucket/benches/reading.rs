//! How fast a compacted run is read for the first time, beside bare range reads of the same bytes one after the other; and
//! how many requests one call takes.
//!
//! `cargo bench -p retold-bucket --bench reading -- 20000` makes so many exchanges. Compare ratios, not seconds.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

mod slow_store;

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use retold::audit::{Target, audit};
use retold::exchange::{Recording, import_recording, read_exchanges};
use retold::id::{CallPath, RunId, Seq, Time};
use retold::jsonl::JsonlReader;
use retold::log::{Backend, CheckedReader};
use retold::parse::Parsers;
use retold::run::clock::Stopwatch;
use retold_bucket::BucketBackend;
use serde_json::json;

use slow_store::{open, slow};

/// As many bytes as a compacted segment of about 1 MB of lines has.
const RANGE: u64 = 256 << 10;

fn main() {
    let count = std::env::args().find_map(|word| word.parse::<u64>().ok()).unwrap_or(20_000);
    let store = Arc::new(InMemory::new());
    let begun = Stopwatch::start();
    let run = imported(&store, count);
    println!("{count} exchanges imported in {:.1} s", begun.elapsed().as_secs_f64());
    let begun = Stopwatch::start();
    let made = open(store.clone()).compact(run).unwrap();
    println!("compacted in {:.1} s: {made:?}\n", begun.elapsed().as_secs_f64());
    println!("| added to a request | bare | read | ratio | one call |\n|---|---|---|---|---|");
    for added in [0, 10, 50].map(Duration::from_millis) {
        let bare = bare(&slow(&store, added));
        let read = read(open(slow(&store, added)), run);
        let call = one_call(open(slow(&store, added)), run, count / 2);
        println!(
            "| {} ms | {:.2} s | {:.2} s | {:.2} | {:.2} s |",
            added.as_millis(),
            bare.as_secs_f64(),
            read.as_secs_f64(),
            bare.as_secs_f64() / read.as_secs_f64(),
            call.as_secs_f64(),
        );
    }
}

/// A run of made-up exchanges, each with 1.4 kB of new text.
fn imported(store: &Arc<InMemory>, count: u64) -> RunId {
    let words = |seed: u64, count: u64| {
        let word =
            |n: u64| format!("{:x} ", (seed * 1000 + n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44);
        (0..count).map(word).collect::<String>()
    };
    let line = |n: u64| {
        let messages = [json!({"role": "user", "content": words(2 * n, 120)})];
        json!({
            "call": format!("vote/p_{n:07}"),
            "request": {"model": "m", "messages": messages},
            "response": {"content": words(2 * n + 1, 120)},
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("exchanges.jsonl");
    let mut text = std::io::BufWriter::new(std::fs::File::create(&file).unwrap());
    for n in 0..count {
        std::io::Write::write_all(&mut text, format!("{}\n", line(n)).as_bytes()).unwrap();
    }
    drop(text);
    let exchanges = read_exchanges(JsonlReader::open(&file).unwrap(), Time(1_700_000_000_000));
    let (log, run) = exchanges.unwrap().into_log();
    let head = log.reader().unwrap().runs().unwrap()[0].head;
    import_recording(&open(store.clone()), &Recording { run, log, head }).unwrap();
    run
}

/// Reads the parts by ranges, one after the other.
fn bare(store: &Arc<dyn ObjectStore>) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listed = store.list(Some(&Path::from("lab/compacted")));
    let parts: Vec<_> = runtime.block_on(listed.try_collect()).unwrap();
    let begun = Stopwatch::start();
    for part in parts.iter().filter(|part| part.location.as_ref().ends_with(".zst")) {
        let mut from = 0;
        while from < part.size {
            let end = part.size.min(from + RANGE);
            drop(runtime.block_on(store.get_range(&part.location, from..end)).unwrap());
            from = end;
        }
    }
    begun.elapsed()
}

fn read(backend: BucketBackend, run: RunId) -> Duration {
    let begun = Stopwatch::start();
    let mut reader = backend.reader().unwrap();
    let mut after = Seq(0);
    while let Some(last) = reader.events(run, after, 1024).unwrap().last() {
        after = last.seq;
    }
    begun.elapsed()
}

fn one_call(backend: BucketBackend, run: RunId, n: u64) -> Duration {
    let begun = Stopwatch::start();
    let mut reader = CheckedReader::new(backend.reader().unwrap());
    let call = CallPath::new(format!("vote/p_{n:07}")).unwrap();
    audit(&mut reader, run, &Target::Call(call, None), &Parsers::default()).unwrap();
    begun.elapsed()
}
