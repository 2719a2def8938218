//! How long it takes until a long run is replayed, and what its last exchange costs.

use std::path::Path;
use std::sync::Arc;

use retold::id::Seq;
use retold::log::{Log, SqliteBackend, SqliteOptions};
use retold::run::clock::Stopwatch;

use crate::client::{Requests, ask, requests};
use crate::recorded::{RUN, bare, recorder, replayer};

const EXCHANGES: usize = 1_000_000;

/// How many of them are replayed at each end.
const SOME: usize = 10_000;

pub(crate) async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("retold.db");
    let all = requests("/openai", EXCHANGES);
    let recorder = recorder(&log, bare().await).await;
    ask(recorder.address, &all, 256, None).await;
    recorder.end().await;
    let watch = Stopwatch::start();
    let replaying = replayer(&log).await;
    let started = watch.elapsed().as_secs_f64();
    let read = read(&log);
    println!("| {EXCHANGES} exchanges | seconds |\n|---|---|");
    println!("| until the replay serves | {started:.2} |");
    println!("| reading all its events once | {read:.2} |");
    let part = |from: usize| -> Requests { Arc::from(&all[from..from + SOME]) };
    for (name, from) in [("first", 0), ("last", EXCHANGES - SOME), ("middle", EXCHANGES / 2)] {
        let seen = ask(replaying.address, &part(from), 1, None).await;
        println!("| replay of the {name} {SOME}, each | {:.6} |", 1.0 / seen.rate());
    }
    replaying.end().await;
    let replaying = replayer(&log).await;
    let mut mixed = vec![Vec::new(); SOME];
    for (place, request) in mixed.iter_mut().enumerate() {
        // A prime that does not divide their number meets each at most once.
        request.clone_from(&all[place * 611_953 % EXCHANGES]);
    }
    let seen = ask(replaying.address, &Arc::from(mixed), 1, None).await;
    println!("| replay of {SOME} in no order, each | {:.6} |", 1.0 / seen.rate());
    replaying.end().await;
}

/// How long it takes to read all events.
fn read(log: &Path) -> f64 {
    let backend = SqliteBackend::open_or_create(log, SqliteOptions::default()).unwrap();
    let mut reader = Log::new(Arc::new(backend)).reader().unwrap();
    let (watch, mut after) = (Stopwatch::start(), Seq(0));
    while let Some(last) = reader.events(RUN, after, 512).unwrap().last() {
        after = last.seq;
    }
    watch.elapsed().as_secs_f64()
}
