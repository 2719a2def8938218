//! Durable appends to a log in a bucket with 64 in flight, compared with bare puts of the objects that they made, one
//! after the other, to the same store.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use retold::log::Log;
use retold_bucket::BucketBackend;

use crate::append::append_to;
use crate::study::{RUN, filler};
use crate::{rate, row};

const EVENTS: usize = 4_000;
const ROUNDS: usize = 5;

pub(crate) fn measure() {
    let texts: Vec<String> = (0..EVENTS).map(|i| filler(i as u64, 1400)).collect();
    for added in [0, 10, 50] {
        let added = Duration::from_millis(added);
        let mut rounds: Vec<(f64, Duration, Duration, usize)> = Vec::new();
        // One after the other, so that both meet the same disturbances.
        for _ in 0..ROUNDS {
            let folder = tempfile::tempdir().unwrap();
            let store = store(folder.path(), added);
            let log = BucketBackend::open_or_create(store.clone(), Path::from("ours"), "bench");
            let ours = append_to(&Log::new(Arc::new(log.unwrap())), RUN, &texts);
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
    let config = ThrottleConfig {
        wait_put_per_call: added,
        wait_get_per_call: added,
        ..ThrottleConfig::default()
    };
    Arc::new(ThrottledStore::new(InMemory::new(), config))
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
