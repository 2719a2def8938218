//! Appending to the file.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::SqliteBackend;
use super::contents::Contents;
use crate::content::Content;
use crate::event::NewEvent;
use crate::event::chain::{GENESIS, Link, content_key};
use crate::id::{EventHash, PromptHash, RunId, Seq, Time};
use crate::log::backend::{Append, Committer, Head};
use crate::log::error::LogError;
use crate::log::skeleton::externalise;
use crate::lookup::LookupMap;
use crate::prompt::{CanonicalError, Request};

/// How many ids a cache keeps before it starts anew: bounds memory at a few megabytes.
const CACHE: usize = 32_768;

pub(super) struct SqliteCommitter {
    db: Connection,
    backend: SqliteBackend,
    known: Known,
}

/// Ids of rows that exist for ever. Dropped when a transaction fails, since it may hold ids that
/// were never stored.
#[derive(Default)]
struct Known {
    kinds: BTreeMap<(String, u32), i64>,
    runs: BTreeMap<RunId, (i64, Time)>,
    requests: LookupMap<PromptHash, i64>,
    contents: Contents,
}

/// Why a transaction ended.
enum Stop {
    Sqlite(rusqlite::Error),
    Log(LogError),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Sqlite(error)
    }
}

impl From<CanonicalError> for Stop {
    fn from(error: CanonicalError) -> Self {
        Stop::Log(LogError::Failed { path: String::new(), reason: error.to_string() })
    }
}

impl SqliteCommitter {
    pub(super) fn new(db: Connection, backend: SqliteBackend) -> Self {
        SqliteCommitter { db, backend, known: Known::default() }
    }
}

impl Committer for SqliteCommitter {
    fn commit(&mut self, appends: &[Append]) -> Result<Vec<Head>, LogError> {
        let SqliteCommitter { db, backend, known } = self;
        let mut write = || -> Result<Vec<Head>, Stop> {
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            known.contents.catch_up(&tx)?;
            let mut heads = Vec::with_capacity(appends.len());
            for append in appends {
                heads.push(append_to_run(&tx, known, append)?);
            }
            known.contents.settle(&tx)?;
            tx.commit()?;
            Ok(heads)
        };
        write().map_err(|stop| {
            *known = Known::default();
            match stop {
                Stop::Sqlite(e) => backend.error(&e),
                Stop::Log(e) => e,
            }
        })
    }
}

fn append_to_run(tx: &Transaction<'_>, known: &mut Known, append: &Append) -> Result<Head, Stop> {
    let Some(first) = append.events.first() else {
        return Ok(Head { seq: Seq(append.first.0.saturating_sub(1)), hash: GENESIS });
    };
    let (no, started) = run_row(tx, known, append.run, first.time)?;
    let mut head = head_of(tx, no)?;
    if head.seq.next() != append.first {
        return Err(Stop::Log(LogError::Conflict { run: append.run, seq: append.first }));
    }
    for event in &append.events {
        head = insert(tx, known, append.run, no, started, head, event)?;
    }
    Ok(head)
}

/// The number and start of a run, made at its first event.
fn run_row(
    tx: &Transaction<'_>,
    known: &mut Known,
    run: RunId,
    time: Time,
) -> rusqlite::Result<(i64, Time)> {
    if let Some(row) = known.runs.get(&run) {
        return Ok(*row);
    }
    let find = "SELECT no, started FROM run_ids WHERE id = ?1";
    let found = tx
        .prepare_cached(find)?
        .query_row([run.as_bytes()], |r| Ok((r.get(0)?, Time(r.get(1)?))))
        .optional()?;
    let row = match found {
        Some(row) => row,
        None => {
            tx.prepare_cached("INSERT OR FAIL INTO run_ids (id, started) VALUES (?1, ?2)")?
                .execute(params![run.as_bytes(), time.0])?;
            (tx.last_insert_rowid(), time)
        }
    };
    known.runs.insert(run, row);
    Ok(row)
}

fn head_of(tx: &Transaction<'_>, no: i64) -> rusqlite::Result<Head> {
    let find = "SELECT id, hash FROM events WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT 1";
    let found = tx
        .prepare_cached(find)?
        .query_row([no << 32, (no + 1) << 32], |r| Ok((r.get::<_, i64>(0)?, r.get(1)?)))
        .optional()?;
    Ok(match found {
        Some((id, hash)) => Head { seq: Seq((id & 0xffff_ffff) as u64), hash: EventHash(hash) },
        None => Head { seq: Seq(0), hash: GENESIS },
    })
}

fn insert(
    tx: &Transaction<'_>,
    known: &mut Known,
    run: RunId,
    no: i64,
    started: Time,
    head: Head,
    event: &NewEvent,
) -> Result<Head, Stop> {
    let seq = head.seq.next();
    let content = event.content.as_ref().map(content_key);
    let hash = Link::of_new(event, run, seq, content).hash_after(head.hash);
    let content_id = match (&event.content, content) {
        (Some(content), Some(key)) => Some(known.contents.row(tx, content, key)?),
        _ => None,
    };
    let request_id = match &event.prompt {
        Some(request) => Some(request_row(tx, known, request)?),
        None => None,
    };
    let kind = kind_row(tx, known, &event.kind, event.version)?;
    let far_off = || LogError::Failed {
        path: "the event".to_owned(),
        reason: format!("the time of seq {seq} is out of range"),
    };
    let time = event.time.0.checked_sub(started.0).ok_or_else(|| Stop::Log(far_off()))?;
    let sql =
        "INSERT OR FAIL INTO events (id, kind, time, call, sample, request, cause, content, body, hash)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    tx.prepare_cached(sql)?.execute(params![
        (no << 32) + seq.0 as i64,
        kind,
        time,
        event.call.as_ref().map(|c| c.as_str()),
        event.sample,
        request_id,
        event.cause.map(|c| c.0 as i64),
        content_id,
        (event.body != "{}").then_some(&*event.body),
        hash.as_bytes(),
    ])?;
    Ok(Head { seq, hash })
}

fn kind_row(
    tx: &Transaction<'_>,
    known: &mut Known,
    name: &str,
    version: u32,
) -> rusqlite::Result<i64> {
    // A handful of kinds: a scan is as fast as a look-up and borrows the name.
    if let Some((_, id)) = known.kinds.iter().find(|((n, v), _)| n == name && *v == version) {
        return Ok(*id);
    }
    let find = "SELECT id FROM kinds WHERE name = ?1 AND version = ?2";
    let found =
        tx.prepare_cached(find)?.query_row(params![name, version], |r| r.get(0)).optional()?;
    let id = match found {
        Some(id) => id,
        None => {
            tx.prepare_cached("INSERT OR FAIL INTO kinds (name, version) VALUES (?1, ?2)")?
                .execute(params![name, version])?;
            tx.last_insert_rowid()
        }
    };
    known.kinds.insert((name.to_owned(), version), id);
    Ok(id)
}

fn request_row(tx: &Transaction<'_>, known: &mut Known, request: &Request) -> Result<i64, Stop> {
    let hash = request.hash();
    if let Some(id) = known.requests.get(&hash) {
        return Ok(*id);
    }
    let find = "SELECT id FROM requests WHERE substr(hash, 1, 8) = ?1 AND hash = ?2";
    let found = tx
        .prepare_cached(find)?
        .query_row(params![&hash.0[..8], hash.as_bytes()], |r| r.get(0))
        .optional()?;
    let id = match found {
        Some(id) => id,
        None => {
            let skeleton = externalise(request, &mut |text| -> Result<String, Stop> {
                let content = Content::from(text);
                Ok(known.contents.row(tx, &content, content_key(&content))?.to_string())
            })?;
            tx.prepare_cached("INSERT OR FAIL INTO requests (hash, skeleton) VALUES (?1, ?2)")?
                .execute(params![hash.as_bytes(), skeleton])?;
            tx.last_insert_rowid()
        }
    };
    if known.requests.len() >= CACHE {
        known.requests.clear();
    }
    known.requests.insert(hash, id);
    Ok(id)
}
