//! Recording over HTTP, compared with a bare client that keeps nothing: the same prompts, server
//! and connection settings.
//!
//! The bare client writes each request as JSON, reads the whole reply, parses it, and takes the
//! answer out of it, as any program that wants the answer must. It hashes nothing and stores
//! nothing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use reqwest::{Client, redirect};
use retold::model::openai::OpenAiSettings;
use retold::model::{NamedUrl, OpenAi};
use retold::run::Mode;
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::server::{ANSWER, Server};
use crate::study::{Study, execute_at, filler};
use crate::{rate, row, timed};

const ROUNDS: usize = 7;

pub(crate) fn measure() {
    let server = Server::start();
    one_by_one(&server);
    many(&server);
}

/// One call at a time: each is asked when the previous answer is on disk.
fn one_by_one(server: &Server) {
    let calls = 1500;
    let texts: Vec<String> = (0..calls as u64).map(|i| filler(i, ANSWER)).collect();
    let folder = tempfile::tempdir().unwrap();
    let mut inserts = Vec::new();
    let rounds = rounds(server, calls, 1, |round| {
        let bare = folder.path().join(format!("{round}.db"));
        inserts.push(rate(calls, insert(&bare, &texts)));
    });
    let inserted = middle(&mut inserts);
    let bare = middle(&mut rounds.iter().map(|r| rate(calls, r.bare.took)).collect::<Vec<_>>());
    print("one by one", calls, &rounds);
    // A program that waits for the reply and then for the disk is at best as fast as the sum of the
    // two.
    row(
        "what the disk leaves of it, one by one",
        &format!("reply, then bare SQLite insert: {:.0}/s", 1.0 / (1.0 / bare + 1.0 / inserted)),
        &format!("bare reqwest: {bare:.0}/s; bare durable inserts: {inserted:.0}/s"),
        inserted / (bare + inserted),
    );
}

fn many(server: &Server) {
    let calls = 20_000;
    print("64 in flight", calls, &rounds(server, calls, 64, |_| {}));
}

/// What one round took, for both clients.
struct Round {
    ours: Took,
    bare: Took,
}

/// Elapsed time, and processor time of all our threads, without the server's.
#[derive(Clone, Copy)]
struct Took {
    took: Duration,
    busy: Duration,
}

fn rounds(
    server: &Server,
    calls: usize,
    in_flight: usize,
    mut also: impl FnMut(usize),
) -> Vec<Round> {
    let study = Study::new(calls as u64, 1, 1000, ANSWER);
    let folder = tempfile::tempdir().unwrap();
    // One after the other, so that both meet the same disturbances.
    let round = |round| {
        let log = folder.path().join(format!("{round}.db"));
        let ours = measured(|| record(server, &study, &log, in_flight));
        let bare = measured(|| ask(server, &study, in_flight));
        also(round);
        Round { ours, bare }
    };
    (0..ROUNDS).map(round).collect()
}

fn print(how: &str, calls: usize, rounds: &[Round]) {
    let of =
        |what: &dyn Fn(&Round) -> f64| middle(&mut rounds.iter().map(what).collect::<Vec<_>>());
    let busy = |took: Took| took.busy.as_secs_f64() * 1e6 / calls as f64;
    let ours = of(&|r| rate(calls, r.ours.took));
    let bare = of(&|r| rate(calls, r.bare.took));
    row(
        &format!("recording over HTTP, prompts of 1 kB, answers of {ANSWER} B, {how}"),
        &format!("{ours:.0}/s, {:.0} µs of CPU each", of(&|r| busy(r.ours))),
        &format!(
            "bare reqwest that parses the reply and keeps nothing: {bare:.0}/s, {:.0} µs",
            of(&|r| busy(r.bare))
        ),
        of(&|r| r.bare.took.as_secs_f64() / r.ours.took.as_secs_f64()),
    );
}

fn middle(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measured(work: impl FnOnce()) -> Took {
    let busy = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let before = busy();
    let ((), took) = timed(work);
    Took { took, busy: busy() - before }
}

fn record(server: &Server, study: &Study, log: &Path, in_flight: usize) {
    let settings = OpenAiSettings {
        base_url: NamedUrl::from_user(server.base_url.as_str()),
        key: None,
        timeout: Duration::from_secs(60),
        tier: None,
    };
    let model = OpenAi::new(settings).unwrap();
    let ended = execute_at(study, Arc::new(model), 0, log, Mode::Record, in_flight);
    assert_eq!(ended.progress.live as usize, study.exchanges());
}

fn ask(server: &Server, study: &Study, in_flight: usize) {
    let http = Client::builder()
        .user_agent(concat!("retold/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .build()
        .unwrap();
    let url = format!("{}/chat/completions", server.base_url);
    let one = async |number: u64| {
        let prompt = format!("Question {number}. {}", study.common);
        let body = json!({
            "messages": [{"content": prompt, "role": "user"}],
            "model": "gpt-4",
            "temperature": 0.7,
        });
        let reply = http.post(&url).json(&body).send().await.unwrap();
        let reply: Value = reply.error_for_status().unwrap().json().await.unwrap();
        reply["choices"][0]["message"]["content"].as_str().unwrap().len()
    };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(async {
        let mut numbers = 0..study.prompts;
        let mut flying: FuturesUnordered<_> = numbers.by_ref().take(in_flight).map(&one).collect();
        while let Some(length) = flying.next().await {
            assert!(length > ANSWER / 2);
            flying.extend(numbers.next().map(&one));
        }
    });
}

/// How long bare SQLite takes for durable inserts, one by one, into a WAL that has its full length
/// and is overwritten after 4 MB, like ours: a growing WAL is flushed twice.
fn insert(path: &Path, texts: &[String]) -> Duration {
    let db = Connection::open(path).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "synchronous", "FULL").unwrap();
    db.pragma_update(None, "wal_autocheckpoint", (4 << 20) / 4096).unwrap();
    db.execute_batch("CREATE TABLE e (id INTEGER PRIMARY KEY, time, text TEXT, hash BLOB)")
        .unwrap();
    db.execute("INSERT INTO e (text) VALUES (zeroblob(5 << 20))", ()).unwrap();
    let mut insert = db.prepare("INSERT INTO e (time, text, hash) VALUES (?1, ?2, ?3)").unwrap();
    let (_, took) = timed(|| {
        for text in texts {
            insert.execute((1_735_689_600_000_i64, text, [7_u8; 32])).unwrap();
        }
    });
    took
}
