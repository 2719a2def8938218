//! Appending to the file.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::SqliteBackend;
use super::contents;
use super::known::Known;
use super::stop::Stop;
use crate::event::chain::{Head, LinkedEvent};
use crate::id::{EventHash, RunId, Seq, Time};
use crate::log::backend::{Append, Committer};
use crate::log::error::LogError;

pub(super) struct SqliteCommitter {
    db: Connection,
    backend: SqliteBackend,
    known: Known,
    /// `None` if no transaction is open.
    open: Option<Transaction>,
}

/// What is known within a transaction, in which nobody else writes.
struct Transaction {
    /// The ends of the runs that it appends to.
    heads: BTreeMap<RunId, Head>,
    /// The number of the newest run: the events that come last in their table are its.
    newest: i64,
}

impl SqliteCommitter {
    pub(super) fn new(db: Connection, backend: SqliteBackend) -> Self {
        SqliteCommitter { db, backend, known: Known::default(), open: None }
    }

    /// What stopped a transaction, which is rolled back with all that was learned in it.
    fn stopped(&mut self, stop: Stop) -> LogError {
        self.known = Known::default();
        self.open = None;
        let error = match stop {
            Stop::Sqlite(e) => self.backend.error(&e),
            Stop::Log(e) => e,
        };
        // SQLite may have rolled back by itself (a full disk): then there is nothing to do.
        if !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
        error
    }

    fn insert(&mut self, append: &Append) -> Result<(), Stop> {
        let SqliteCommitter { db, known, open, .. } = self;
        let open = match open {
            Some(open) => open,
            None => {
                db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
                known.contents.catch_up(db)?;
                let newest = "SELECT coalesce(max(no), 0) FROM run_ids";
                let newest = db.prepare_cached(newest)?.query_row([], |r| r.get(0))?;
                open.insert(Transaction { heads: BTreeMap::new(), newest })
            }
        };
        append_to_run(db, known, open, append)
    }

    fn commit(&mut self) -> Result<(), Stop> {
        if self.open.take().is_some() {
            self.known.contents.settle(&self.db)?;
            self.db.prepare_cached("COMMIT")?.execute([])?;
        }
        Ok(())
    }
}

impl Committer for SqliteCommitter {
    fn append(&mut self, append: &Append) -> Result<(), LogError> {
        self.insert(append).map_err(|stop| self.stopped(stop))
    }

    fn flush(&mut self) -> Result<(), LogError> {
        self.commit().map_err(|stop| self.stopped(stop))
    }
}

/// What is executed for every event.
struct Statements<'c> {
    event: CachedStatement<'c>,
    contents: contents::Statements<'c>,
}

/// An event whose id is the one after the last in the table, which SQLite gives it without looking
/// for another that has it, and without keeping a journal in case there is one.
const NEXT: &str =
    "INSERT OR FAIL INTO events (kind, time, call, sample, request, cause, content, body, hash)
    VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// An event of a run that others have come after, and a run's first.
const INSERT: &str =
    "INSERT OR FAIL INTO events (id, kind, time, call, sample, request, cause, content, body, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

fn append_to_run(
    tx: &Connection,
    known: &mut Known,
    open: &mut Transaction,
    append: &Append,
) -> Result<(), Stop> {
    let Append { run, events } = append;
    let Some(earliest) = events.first() else {
        return Ok(());
    };
    let (no, started) = known.run(tx, *run, earliest.event().time)?;
    open.newest = open.newest.max(no);
    let mut head = match open.heads.get(run) {
        Some(head) => *head,
        None => head_of(tx, no)?,
    };
    let is_next = no == open.newest && head.seq > Seq(0);
    let event = tx.prepare_cached(if is_next { NEXT } else { INSERT })?;
    let mut statements = Statements { event, contents: contents::Statements::of(tx)? };
    for event in events {
        let conflict = || Stop::Log(LogError::Conflict { run: *run, seq: event.head().seq });
        if event.after() != head {
            return Err(conflict());
        }
        let id = (no << 32) + event.head().seq.0 as i64;
        insert(tx, &mut statements, known, (id, started), event)?;
        if tx.last_insert_rowid() != id {
            return Err(conflict());
        }
        head = event.head();
    }
    open.heads.insert(*run, head);
    Ok(())
}

fn head_of(tx: &Connection, no: i64) -> rusqlite::Result<Head> {
    let find = "SELECT id, hash FROM events WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT 1";
    let found = tx
        .prepare_cached(find)?
        .query_row([no << 32, (no + 1) << 32], |r| Ok((r.get::<_, i64>(0)?, r.get(1)?)))
        .optional()?;
    Ok(match found {
        Some((id, hash)) => Head { seq: Seq((id & 0xffff_ffff) as u64), hash: EventHash(hash) },
        None => Head::START,
    })
}

fn insert(
    tx: &Connection,
    statements: &mut Statements<'_>,
    known: &mut Known,
    (id, started): (i64, Time),
    linked: &LinkedEvent,
) -> Result<(), Stop> {
    let (event, Head { seq, hash }) = (linked.event(), linked.head());
    let content_id = match (&event.content, linked.content()) {
        (Some(content), Some(key)) => {
            Some(known.contents.row(tx, &mut statements.contents, content, key)?)
        }
        _ => None,
    };
    let request_id = match &event.prompt {
        Some(request) => Some(known.request(tx, &mut statements.contents, request)?),
        None => None,
    };
    let kind = known.kind(tx, &event.kind, event.version)?;
    let far_off = || LogError::Failed {
        path: "the event".to_owned(),
        reason: format!("the time of seq {seq} is out of range"),
    };
    let time = event.time.0.checked_sub(started.0).ok_or_else(|| Stop::Log(far_off()))?;
    statements.event.execute(params![
        id,
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
    Ok(())
}
