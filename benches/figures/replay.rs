//! Replayed exchanges per second, compared with bare point look-ups of the same answers by 32-byte
//! key.

use std::path::Path;
use std::time::Duration;

use retold::id::CallPath;
use retold::run::Mode;
use rusqlite::Connection;

use crate::study::{Study, go};
use crate::{rate, row, timed};

pub(crate) fn measure() {
    let one_prompt = Study::new(200, 100, 1000, 90);
    let own_prompt = Study::new(20_000, 1, 1000, 1400);
    let studies = [
        ("replay, 100 answers of 120 B a prompt", one_prompt),
        ("replay, each answer of 1.4 kB to its own prompt of 1 kB", own_prompt),
    ];
    for (name, study) in studies {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.db");
        go(&study, &log, Mode::Record);
        let bare_log = folder.path().join("bare.db");
        let keys = fill(&bare_log, &study);
        let (mut ours, mut bare) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            ours = ours.min(timed(|| go(&study, &log, Mode::Replay)).1);
            bare = bare.min(look_up(&bare_log, &keys));
        }
        let (ours, bare) = (rate(study.exchanges(), ours), rate(study.exchanges(), bare));
        row(
            name,
            &format!("{ours:.0}/s"),
            &format!("bare SQLite look-ups by key: {bare:.0}/s"),
            ours / bare,
        );
    }
}

/// The answers of a study in a bare table.
fn fill(path: &Path, study: &Study) -> Vec<[u8; 32]> {
    let answers = (0..study.prompts).flat_map(|prompt| {
        let call = CallPath::new(format!("ask/{prompt}")).unwrap();
        (0..study.samples).map(move |sample| study.answer(&call, sample).into_bytes())
    });
    fill_with(path, answers)
}

/// Puts answers into a bare table, under 32-byte keys; returns the keys in the same order.
pub(crate) fn fill_with(path: &Path, answers: impl Iterator<Item = Vec<u8>>) -> Vec<[u8; 32]> {
    let mut db = Connection::open(path).unwrap();
    db.pragma_update(None, "page_size", 8192).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.execute_batch("CREATE TABLE a (key BLOB PRIMARY KEY, answer BLOB)").unwrap();
    let write = db.transaction().unwrap();
    let mut keys = Vec::new();
    for (number, answer) in answers.enumerate() {
        let key = *blake3::hash(number.to_string().as_bytes()).as_bytes();
        let sql = "INSERT INTO a VALUES (?1, ?2)";
        write.prepare_cached(sql).unwrap().execute((key, answer)).unwrap();
        keys.push(key);
    }
    write.commit().unwrap();
    keys
}

/// How long it takes to read all of them.
pub(crate) fn look_up(path: &Path, keys: &[[u8; 32]]) -> Duration {
    let db = Connection::open(path).unwrap();
    db.pragma_update(None, "cache_size", -32_768).unwrap();
    let mut find = db.prepare("SELECT answer FROM a WHERE key = ?1").unwrap();
    let (bytes, took) = timed(|| {
        let answers = keys.iter().map(|key| find.query_row([key], |r| r.get::<_, Vec<u8>>(0)));
        answers.map(|answer| answer.unwrap().len()).sum::<usize>()
    });
    assert!(bytes > 0);
    took
}
