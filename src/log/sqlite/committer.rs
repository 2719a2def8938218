//! Appending to the file.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Connection, params};

use super::busy::WaitFlag;
use super::guard::Fuel;
use super::identity::Identity;
use super::open_file::OpenFile;
use super::space::Space;
use super::stop::TransactionError;
use super::stored_ids::StoredIds;
use super::{SqliteBackend, contents, ledger};
use crate::event::NewEvent;
use crate::event::chain::{Head, LinkedEvent};
use crate::id::{RunId, Seq, Time};
use crate::log::backend::{Append, Committer, Turn};
use crate::log::error::LogError;
use crate::log::high_water_mark::{HighWaterMark, HighWaterMarkFile};
use crate::log::ledger::LedgerHead;

pub(super) struct SqliteCommitter {
    db: OpenFile,
    backend: SqliteBackend,
    known: StoredIds,
    marks: HighWaterMarkFile,
    watch: Watch,
    /// `None` if no transaction is open.
    open: Option<Transaction>,
    /// Whether it had to wait for other processes.
    waited: WaitFlag,
}

/// The checks made while a file is written.
pub(super) struct Watch {
    pub(super) identity: Identity,
    pub(super) fuel: Fuel,
    /// `None` if no limit was set.
    pub(super) space: Option<Space>,
}

impl Watch {
    /// The space is checked again after this many inserted events.
    const OFTEN: usize = 64;

    /// Called before a transaction.
    fn begin(&mut self, db: &Connection) -> Result<(), TransactionError> {
        self.fuel.fill();
        self.space.as_mut().map_or(Ok(()), |space| space.begin(db))
    }

    /// Called after the `n`th event of a group is inserted.
    fn after_insert(
        &mut self,
        db: &Connection,
        n: usize,
        event: &NewEvent,
    ) -> Result<(), TransactionError> {
        self.fuel.fill();
        let Some(space) = &mut self.space else { return Ok(()) };
        // Requests are found by their hash, so they change pages in random places.
        space.count_changes(u64::from(event.prompt.is_some()));
        if n.is_multiple_of(Self::OFTEN) { space.check(db) } else { Ok(()) }
    }

    /// Notes that up to `pages` pages of an index may have changed.
    fn count_changes(&mut self, pages: u64) {
        self.fuel.fill();
        self.space.iter_mut().for_each(|space| space.count_changes(pages));
    }

    /// Called before a commit in which up to `settled` pages of an index may have changed.
    fn commit(&mut self, db: &Connection, settled: u64) -> Result<(), TransactionError> {
        self.identity.check().map_err(TransactionError::Log)?;
        let Some(space) = &mut self.space else { return Ok(()) };
        space.count_changes(settled);
        space.check(db)
    }
}

/// The state of a transaction, during which nobody else writes.
struct Transaction {
    /// The numbers and ends of the runs that are appended to.
    heads: BTreeMap<RunId, (i64, Head)>,
    /// The number of the newest run, whose events are the last in their table.
    newest: i64,
    /// The end of the ledger, once an entry has been added.
    ledger: Option<LedgerHead>,
}

impl SqliteCommitter {
    pub(super) fn new(
        db: OpenFile,
        backend: SqliteBackend,
        marks: HighWaterMarkFile,
        watch: Watch,
        waited: WaitFlag,
    ) -> Self {
        let known = StoredIds::default();
        SqliteCommitter { db, backend, known, marks, watch, open: None, waited }
    }

    /// Rolls back a stopped transaction and forgets the ids and ends learned in it.
    fn roll_back(&mut self, stop: TransactionError) -> LogError {
        self.known = StoredIds::default();
        self.open = None;
        let error = match stop {
            // If the file is gone, that is the reason, and not what SQLite says about it.
            TransactionError::Sqlite(e) => {
                self.watch.identity.check().err().unwrap_or_else(|| self.backend.error(e))
            }
            TransactionError::Log(e) => e,
        };
        // SQLite may have rolled back by itself (when the disk is full); then there is nothing to
        // do.
        if !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
        error
    }

    fn insert(&mut self, append: &Append) -> Result<(), TransactionError> {
        let SqliteCommitter { db, known, watch, open, .. } = self;
        let open = match open {
            Some(open) => open,
            None => {
                watch.begin(db)?;
                db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
                known.contents.catch_up(db)?;
                let newest = "SELECT coalesce(max(no), 0) FROM run_ids";
                let newest = db.prepare_cached(newest)?.query_row([], |r| r.get(0))?;
                open.insert(Transaction { heads: BTreeMap::new(), newest, ledger: None })
            }
        };
        append_to_run(db, known, watch, open, append)
    }

    fn commit(&mut self) -> Result<(), TransactionError> {
        if let Some(done) = self.open.take() {
            let settled = self.known.contents.settle(&self.db)?;
            self.watch.commit(&self.db, settled)?;
            self.db.prepare_cached("COMMIT")?.execute([])?;
            // Before anyone is notified that the events are stored, so that no promise goes beyond
            // the mark.
            for (run, (number, head)) in done.heads {
                self.marks.note(number, HighWaterMark { run, head });
            }
            self.watch.identity.note_commit();
        }
        Ok(())
    }
}

impl Committer for SqliteCommitter {
    fn append(&mut self, append: &Append) -> Result<(), LogError> {
        self.insert(append).map_err(|stop| self.roll_back(stop))
    }

    fn flush(&mut self) -> Result<Turn, LogError> {
        self.commit().map_err(|stop| self.roll_back(stop))?;
        Ok(if self.waited.take() { Turn::AfterOthers } else { Turn::Free })
    }
}

/// The statements that are executed for every event.
struct Statements<'c> {
    event: CachedStatement<'c>,
    contents: contents::ContentStatements<'c>,
}

/// An event whose id follows the last one in the table. SQLite assigns it without searching for an
/// existing row with that id and without a journal for that case.
const NEXT: &str =
    "INSERT OR FAIL INTO events (kind, time, call, sample, request, cause, content, body, hash)
    VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

/// An event of a run that is no longer the newest, or the first event of a run.
const INSERT: &str =
    "INSERT OR FAIL INTO events (id, kind, time, call, sample, request, cause, content, body, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

fn append_to_run(
    tx: &Connection,
    known: &mut StoredIds,
    watch: &mut Watch,
    open: &mut Transaction,
    append: &Append,
) -> Result<(), TransactionError> {
    let Append { run, events, .. } = append;
    let Some(earliest) = events.first() else {
        return Ok(());
    };
    let (no, started) = known.run(tx, *run, earliest.event().time)?;
    open.newest = open.newest.max(no);
    let end = match open.heads.get(run) {
        Some((_, head)) => *head,
        None => ledger::head_of(tx, no)?,
    };
    let head = append.end_after(end).map_err(TransactionError::Log)?;
    let is_next = no == open.newest && end.seq > Seq(0);
    let event = tx.prepare_cached(if is_next { NEXT } else { INSERT })?;
    let mut statements = Statements { event, contents: contents::ContentStatements::new(tx)? };
    for (n, event) in events.iter().enumerate() {
        let seq = event.head().seq;
        let id = (no << 32) + seq.0 as i64;
        insert(tx, &mut statements, known, (id, started), event)?;
        if tx.last_insert_rowid() != id {
            return Err(TransactionError::Log(LogError::Conflict { run: *run, seq }));
        }
        watch.after_insert(tx, n + 1, event.event())?;
        known.index.add(tx, no, seq, event.event())?;
    }
    drop(statements);
    // An import is one transaction, however long: adding the keys keeps the search for each content
    // short.
    let settled = known.contents.settle(tx)?;
    watch.count_changes(settled);
    for (change, at) in append.ledger_changes() {
        open.ledger = Some(ledger::add(tx, open.ledger, change, *run, at)?);
    }
    open.heads.insert(*run, (no, head));
    Ok(())
}

fn insert(
    tx: &Connection,
    statements: &mut Statements<'_>,
    known: &mut StoredIds,
    (id, started): (i64, Time),
    linked: &LinkedEvent,
) -> Result<(), TransactionError> {
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
    let far_off =
        || LogError::failure("the event", format!("the time of seq {seq} is out of range"));
    let time =
        event.time.0.checked_sub(started.0).ok_or_else(|| TransactionError::Log(far_off()))?;
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
