//! Durable appends with 64 in flight, compared with bare SQLite inserts of the same bytes in the
//! same batches and with the same durability.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use retold::content::Content;
use retold::event::NewEvent;
use retold::event::chain::GENESIS;
use retold::id::{RunId, Seq};
use retold::log::{Head, HighWaterMark, HighWaterMarkFile, Log, SqliteBackend, SqliteOptions};
use retold::run::clock;
use rusqlite::Connection;

use crate::study::{RUN, filler};
use crate::{rate, row, timed};

const EVENTS: usize = 20_000;
const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 15;
const MARKS: u64 = 100_000;

pub(crate) fn measure() {
    for (bytes, name) in [(1400, "1.4 kB"), (120, "120 B")] {
        let texts: Vec<String> = (0..EVENTS).map(|i| filler(i as u64, bytes)).collect();
        let folder = tempfile::tempdir().unwrap();
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        // One after the other, so that both meet the same disturbances.
        for run in 0..ROUNDS {
            let log = folder.path().join(format!("{bytes}-{run}.db"));
            ours.push(append(&log, RUN, &texts));
            let plain = folder.path().join(format!("{bytes}-{run}-bare.db"));
            bare.push(insert(&plain, &texts));
        }
        let (ours, bare) = (rate(EVENTS, middle(ours)), rate(EVENTS, middle(bare)));
        row(
            &format!("durable appends, {name} of new text, 64 in flight"),
            &format!("{ours:.0}/s"),
            &format!("bare SQLite inserts in batches of 64: {bare:.0}/s"),
            ours / bare,
        );
        mark(&folder.path().join(format!("{bytes}-0.db")), IN_FLIGHT as f64 / ours, name);
    }
}

/// What the high-water mark adds to each commit, which is part of the figure above.
fn mark(log: &Path, commit: f64, name: &str) {
    let mut marks = HighWaterMarkFile::open(log).unwrap();
    let (_, took) = timed(|| {
        for seq in 1..=MARKS {
            marks.note(1, HighWaterMark { run: RUN, head: Head { seq: Seq(seq), hash: GENESIS } });
        }
    });
    let mark = took.as_secs_f64() / MARKS as f64;
    row(
        "of that: the high-water mark of each commit",
        &format!("{:.1} µs", mark * 1e6),
        &format!("a commit of 64 events of {name}: {:.0} µs", commit * 1e6),
        mark / commit,
    );
}

/// The median of some durations. The time that a shared disk takes to flush varies by half, so the
/// best of a few would be luck.
fn middle(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took[took.len() / 2]
}

/// Appends texts to a new run of a log in a file, 64 in flight.
pub(crate) fn append(path: &Path, run: RunId, texts: &[String]) -> Duration {
    let backend = SqliteBackend::open_or_create(path, SqliteOptions::default()).unwrap();
    append_to(&Log::new(Arc::new(backend)), run, texts)
}

/// The same for any log.
pub(crate) fn append_to(log: &Log, run: RunId, texts: &[String]) -> Duration {
    let writer = RefCell::new(log.begin(run).unwrap());
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (_, took) = timed(|| {
        tokio.block_on(async {
            let mut texts = texts.iter();
            let one = |text: &String| {
                let mut event = NewEvent::new("ResponseReceived", clock::now());
                event.cause = Some(Seq(1));
                event.content = Some(Content::from(text.as_str()));
                event.body = r#"{"finish_reason":"stop","latency_ms":812}"#.into();
                let (_, durable) = writer.borrow_mut().submit_durable(event).unwrap();
                durable.wait()
            };
            let mut flying: FuturesUnordered<_> = texts.by_ref().take(IN_FLIGHT).map(one).collect();
            while let Some(stored) = flying.next().await {
                stored.unwrap();
                flying.extend(texts.next().map(one));
            }
        });
    });
    took
}

fn insert(path: &Path, texts: &[String]) -> Duration {
    let mut db = Connection::open(path).unwrap();
    fill(&mut db);
    insert_all(&mut db, texts)
}

/// Makes the table of a bare file.
pub(crate) fn fill(db: &mut Connection) {
    db.pragma_update(None, "page_size", 8192).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.execute_batch(
        "CREATE TABLE e (id INTEGER PRIMARY KEY, time, body TEXT, text TEXT, hash BLOB)",
    )
    .unwrap();
}

/// Inserts texts into it, in batches of 64.
pub(crate) fn insert_all(db: &mut Connection, texts: &[String]) -> Duration {
    db.pragma_update(None, "synchronous", "FULL").unwrap();
    let (_, took) = timed(|| {
        for batch in texts.chunks(IN_FLIGHT) {
            let write =
                db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
            {
                let sql = "INSERT INTO e (time, body, text, hash) VALUES (?1, ?2, ?3, ?4)";
                let mut insert = write.prepare_cached(sql).unwrap();
                for text in batch {
                    let body = r#"{"finish_reason":"stop","latency_ms":812}"#;
                    insert.execute((1_735_689_600_000_i64, body, text, [7_u8; 32])).unwrap();
                }
            }
            write.commit().unwrap();
        }
    });
    took
}
