//! Durable appends to a log in a bucket with 64 in flight, compared with bare puts of the objects that they made, one
//! after the other, to the same store; and replay of what this machine has read before, compared with that of a file.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use retold::log::Log;
use retold::run::Mode;
use retold_bucket::BucketBackend;

use crate::append::append_to;
use crate::study::{RUN, Study, filler, go, go_in};
use crate::{rate, row, timed};

const EVENTS: usize = 4_000;
const ROUNDS: usize = 5;

pub(crate) fn measure() {
    appends();
    replay();
}

fn appends() {
    let texts: Vec<String> = (0..EVENTS).map(|i| filler(i as u64, 1400)).collect();
    for added in [0, 10, 50] {
        let added = Duration::from_millis(added);
        let mut rounds: Vec<(f64, Duration, Duration, usize)> = Vec::new();
        // One after the other, so that both meet the same disturbances.
        for _ in 0..ROUNDS {
            let folder = tempfile::tempdir().unwrap();
            let store = store(folder.path(), added);
            let ours = append_to(&Log::new(Arc::new(open(&store))), RUN, &texts);
            let (puts, bare) = put_again(&store);
            rounds.push((bare.as_secs_f64() / ours.as_secs_f64(), ours, bare, puts));
        }
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, ours, bare, puts) = rounds[ROUNDS / 2];
        row(
            &format!("durable appends to {}, 1.4 kB, 64 in flight", name_of(added)),
            &format!("{:.0}/s", rate(EVENTS, ours)),
            &format!("bare puts of the same {puts} objects: {:.0}/s", rate(EVENTS, bare)),
            ratio,
        );
    }
}

/// A store that takes 10 ms, of which everything but the list has been read before.
fn replay() {
    let study = Study::new(20_000, 1, 1000, 1400);
    for compacted in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.db");
        go(&study, &file, Mode::Record);
        let memory: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let near = open(&memory);
        go_in(&study, Log::new(Arc::new(near.clone())), Mode::Record);
        if compacted {
            near.compact(RUN).unwrap();
        }
        let far = slow(memory, Duration::from_millis(10));
        let cache = folder.path().join("cache");
        let replayed = || {
            let log = open(&far).keeping_segments_in(cache.clone());
            go_in(&study, Log::new(Arc::new(log)), Mode::Replay);
        };
        replayed();
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let ((), ours) = timed(replayed);
            let (_, of_file) = timed(|| go(&study, &file, Mode::Replay));
            rounds.push((of_file.as_secs_f64() / ours.as_secs_f64(), ours, of_file));
        }
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (ratio, ours, of_file) = rounds[ROUNDS / 2];
        let kind = if compacted { "compacted" } else { "not compacted" };
        row(
            &format!("replay of a run in a bucket from a warm cache, {kind}, 1.4 kB"),
            &format!("{:.0}/s", rate(study.exchanges(), ours)),
            &format!("replay of a file: {:.0}/s", rate(study.exchanges(), of_file)),
            ratio,
        );
    }
}

fn open(store: &Arc<dyn ObjectStore>) -> BucketBackend {
    BucketBackend::open_or_create(store.clone(), Path::from("ours"), "bench").unwrap()
}

fn name_of(added: Duration) -> String {
    match added.as_millis() {
        0 => "a folder".to_owned(),
        some => format!("a store that takes {some} ms"),
    }
}

/// A folder that flushes each file, as a log's does; or memory behind a link that takes so long. (`ThrottledStore` cannot
/// read files.)
fn store(folder: &std::path::Path, added: Duration) -> Arc<dyn ObjectStore> {
    if added.is_zero() {
        return Arc::new(LocalFileSystem::new_with_prefix(folder).unwrap().with_fsync(true));
    }
    slow(InMemory::new(), added)
}

fn slow(store: impl ObjectStore, added: Duration) -> Arc<dyn ObjectStore> {
    let config = ThrottleConfig {
        wait_put_per_call: added,
        wait_get_per_call: added,
        wait_list_per_call: added,
        ..ThrottleConfig::default()
    };
    Arc::new(ThrottledStore::new(store, config))
}

/// Puts the segments of the run again, under other names; returns how many there are.
fn put_again(store: &Arc<dyn ObjectStore>) -> (usize, Duration) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let found = store.list(Some(&Path::from("ours/runs"))).try_collect::<Vec<_>>().await;
        let mut payloads: Vec<PutPayload> = Vec::new();
        for object in found.unwrap() {
            let bytes = store.get(&object.location).await.unwrap().bytes().await.unwrap();
            payloads.push(bytes.into());
        }
        let puts = payloads.len();
        let watch = retold::run::clock::Stopwatch::start();
        for (number, payload) in payloads.into_iter().enumerate() {
            let path = Path::from(format!("bare/{number:010}"));
            let options = PutOptions::from(PutMode::Create);
            store.put_opts(&path, payload, options).await.unwrap();
        }
        (puts, watch.elapsed())
    })
}
