//! Reads runs, events and requests from an SQLite file.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::guard::Fuel;
use super::idle_readers::ReaderFile;
use super::requests::{RequestFault, RequestReader, RequestRow};
use super::rows::{self, UnreadableRow, stored_event};
use super::sqlite_error::is_damage;
use super::stored_kinds::StoredKinds;
use super::{SqliteBackend, ends, ledger};
use crate::content::Content;
use crate::event::StoredEvent;
use crate::event::chain::Head;
use crate::id::{EventHash, PromptHash, RunId, Seq, Time};
use crate::log::backend::{Reader, RunHead};
use crate::log::error::LogError;
use crate::log::finding::{EventFault, FieldFault, Finding};
use crate::log::index::{KeptPiece, Section};
use crate::log::ledger::LedgerEntry;
use crate::log::store_index::StoreIndex;
use crate::log::uncounted::UncountedEvents;
use crate::prompt::Request;

pub(super) struct SqliteReader {
    pub(super) db: ReaderFile,
    pub(super) backend: SqliteBackend,
    fuel: Fuel,
    kinds: StoredKinds,
    requests: RequestReader,
    /// The run that was read last, with its number and start, which never change.
    last: Option<(RunId, i64, Time)>,
    /// The SQL that reads events; `None` until it is first needed.
    statement: Option<Arc<str>>,
}

impl SqliteReader {
    pub(super) fn new(db: ReaderFile, backend: SqliteBackend) -> Self {
        let fuel = db.fuel.clone();
        let requests = RequestReader::default();
        SqliteReader {
            db,
            backend,
            fuel,
            kinds: StoredKinds::default(),
            requests,
            last: None,
            statement: None,
        }
    }

    /// Allows the next query its steps. To be called between queries that go through the whole file.
    pub(super) fn refill(&self) {
        self.fuel.fill();
    }

    /// Allows the next query the steps for the whole file, which may have grown.
    pub(super) fn fill(&mut self) {
        self.fuel.fill_for(self.backend.bytes());
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> LogError {
        self.backend.error(error)
    }

    fn cannot_read(&self, run: RunId, seq: Seq, error: rusqlite::Error) -> LogError {
        cannot_read(&self.backend, run, seq, error)
    }

    /// The number and start of a run.
    fn run_row(&mut self, run: RunId) -> Result<Option<(i64, Time)>, LogError> {
        if let Some((_, no, started)) = self.last.filter(|(last, ..)| *last == run) {
            return Ok(Some((no, started)));
        }
        let found = self.find_run(run)?;
        self.last = found.map(|(no, started)| (run, no, started)).or(self.last);
        Ok(found)
    }

    fn find_run(&self, run: RunId) -> Result<Option<(i64, Time)>, LogError> {
        let find = "SELECT no, started FROM run_ids WHERE id = ?1";
        let row = |r: &Row<'_>| Ok((r.get(0)?, r.get(1).ok()));
        let found = self.db.query_row(find, [run.as_bytes()], row).optional();
        match found.map_err(|e| self.cannot_read(run, Seq(1), e))? {
            // Its events would have no valid ids.
            Some((no, _)) if !(0..1 << 31).contains(&no) => {
                Err(LogError::corrupt(run, Seq(1), EventFault::RunNumber { no }))
            }
            Some((no, Some(started))) => Ok(Some((no, Time(started)))),
            Some((_, None)) => {
                let fault = EventFault::field("start time", FieldFault::NotAnInteger);
                Err(LogError::corrupt(run, Seq(1), fault))
            }
            None => Ok(None),
        }
    }

    /// Finds the row of a request and passes it to `read`.
    fn request_of<T>(
        &mut self,
        prompt: PromptHash,
        read: impl FnOnce(
            &mut RequestReader,
            &Connection,
            &RequestRow,
            PromptHash,
        ) -> Result<T, RequestFault>,
    ) -> Result<Option<T>, LogError> {
        let found = self.requests.find(&self.db, prompt).map_err(|e| self.error(e))?;
        let Some(stored) = found else { return Ok(None) };
        match read(&mut self.requests, &self.db, &stored, prompt) {
            Ok(made) => Ok(Some(made)),
            Err(RequestFault::Wrong(why)) => Err(LogError::CorruptRequest { prompt, why }),
            Err(RequestFault::Sqlite(e)) => Err(self.error(e)),
        }
    }

    /// Reads up to `limit` events after `after` into `events`, up to the first that cannot be read.
    fn read_events(
        &mut self,
        run: (RunId, i64, Time),
        after: Seq,
        limit: usize,
        events: &mut Vec<StoredEvent>,
    ) -> Result<(), LogError> {
        let (run, no, started) = run;
        let SqliteReader { db, backend, kinds, statement, .. } = self;
        let error = |e| cannot_read(backend, run, after.next(), e);
        let statement = match statement {
            Some(statement) => statement,
            None => statement.insert(rows::statement(db).map_err(error)?),
        };
        let mut select = db.prepare_cached(statement).map_err(error)?;
        let (first, end) = ids(no, after);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = select.query(params![first, end, limit]).map_err(error)?;
        let (mut bytes, mut last) = (0, after);
        while bytes < MOST_BYTES {
            let Some(row) = rows.next().map_err(error)? else { break };
            let kind = |kind| kinds.get(db, kind);
            let event = stored_event(row, run, no, started, last, kind)
                .map_err(|UnreadableRow { seq, fault }| LogError::corrupt(run, seq, fault))?;
            bytes += size(&event);
            last = event.seq;
            events.push(event);
        }
        Ok(())
    }

    /// True if the run has events after `after` that a scan in order does not reach, because a damaged key ended it early.
    fn has_unscanned_events(&self, no: i64, after: Seq) -> rusqlite::Result<bool> {
        // A single statement, so that no other process can append between the two reads.
        let sql = "SELECT (SELECT max(id) FROM events WHERE id > ?1 AND id < ?2),
            (SELECT id FROM events WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT 1)";
        let (first, end) = ids(no, after);
        let row = |r: &Row<'_>| Ok((r.get(0)?, r.get(1)?));
        let (last, next): (Option<i64>, Option<i64>) =
            self.db.prepare_cached(sql)?.query_row([first, end], row)?;
        Ok(last.is_some() && next.is_none())
    }

    /// The first stored event of a run that a lookup by its id does not find, for example because a key in an inner page is damaged.
    fn unfindable_event(&mut self, run: RunId) -> Result<Option<Seq>, LogError> {
        let Some((no, _)) = self.run_row(run)? else { return Ok(None) };
        self.fill();
        // A scan in order reads the leaves of the tree, whatever the keys in its inner pages are. The plus sign makes SQLite
        // look each id up instead.
        let sql =
            "SELECT e.id & 4294967295 FROM events e WHERE e.id > ?1 << 32 AND e.id < (?1 + 1) << 32
            AND NOT EXISTS (SELECT 1 FROM events f WHERE f.id = +e.id) LIMIT 1";
        let find = || -> rusqlite::Result<Option<i64>> {
            self.db.prepare_cached(sql)?.query_row([no], |r| r.get(0)).optional()
        };
        Ok(find().map_err(|e| self.error(e))?.map(|seq| Seq(seq as u64)))
    }
}

/// The exclusive bounds of the ids of a run's events after `after`.
fn ids(no: i64, after: Seq) -> (i64, i64) {
    // A run has fewer than 2^32 events, so the range never reaches another run's.
    let after = i64::from(u32::try_from(after.0).unwrap_or(u32::MAX));
    ((no << 32) + after, (no + 1) << 32)
}

/// A read stops after this many bytes of contents and bodies, even below its limit: one content may be large and belong to
/// many events.
const MOST_BYTES: usize = 32 << 20;

impl Reader for SqliteReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        self.fill();
        let sql = "SELECT r.id, r.started, e.id, e.hash FROM run_ids r LEFT JOIN events e
            ON e.id = (SELECT max(id) FROM events WHERE id > r.no << 32 AND id < (r.no + 1) << 32)
            ORDER BY r.no";
        let read = || -> rusqlite::Result<Vec<RunHead>> {
            let mut select = self.db.prepare_cached(sql)?;
            let rows = select.query_map([], |r| {
                let seq = r.get::<_, Option<i64>>(2)?.unwrap_or(0) & 0xffff_ffff;
                // Damage must not hide the other runs; verification reports it.
                let hash = EventHash(r.get(3).unwrap_or([0; 32]));
                let head = Head { seq: Seq(seq as u64), hash };
                let started = Time(r.get(1).unwrap_or(0));
                Ok(r.get(0).ok().map(|id| RunHead { run: RunId(id), started, head }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        match read() {
            // A damaged page at the end of one run must not hide the other runs.
            Err(error) if is_damage(&error) => {
                let runs = ends::runs(&self.db, || self.refill()).map_err(|e| self.error(e));
                // As for events.
                self.db.release_memory().map_err(|e| self.error(e))?;
                runs
            }
            read => read.map_err(|e| self.error(e)),
        }
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        self.fuel.fill();
        let Some((no, started)) = self.run_row(run)? else { return Ok(Vec::new()) };
        let mut events = Vec::with_capacity(limit.min(4096));
        let read = self.read_events((run, no, started), after, limit, &mut events);
        if let Err(error) = read {
            // SQLite checks a page only when it reads it from the file, not while the page is cached, even if it was damaged.
            // Emptying the cache makes the next read check it again, and meet the error.
            self.db.release_memory().map_err(|e| self.error(e))?;
            return if events.is_empty() { Err(error) } else { Ok(events) };
        }
        let next = after.next();
        let is_end = events.is_empty() && limit > 0;
        if is_end
            && self.has_unscanned_events(no, after).map_err(|e| self.cannot_read(run, next, e))?
        {
            return Err(LogError::corrupt(run, next, EventFault::NotScanned));
        }
        Ok(events)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        self.fuel.fill();
        ledger::read(self, after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.fuel.fill();
        self.request_of(prompt, RequestReader::whole)
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        Some(self)
    }
}

impl StoreIndex for SqliteReader {
    /// The request with only its own messages.
    fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.fuel.fill();
        let check = |requests: &mut RequestReader, db: &Connection, stored: &RequestRow, prompt| {
            requests.check(db, stored, prompt, &mut |_| {})
        };
        Ok(self.request_of(prompt, check)?.map(|part| part.request.clone()))
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        self.fill();
        let sql = "SELECT hash FROM requests WHERE substr(lower(hex(hash)), 1, ?1) = ?2 LIMIT ?3";
        let read = || -> rusqlite::Result<Vec<PromptHash>> {
            let mut select = self.db.prepare_cached(sql)?;
            let found = params![prefix.len() as i64, prefix, limit as i64];
            let rows = select.query_map(found, |r| Ok(PromptHash(r.get(0)?)))?;
            rows.collect()
        };
        read().map_err(|e| self.error(e))
    }

    fn pieces(&mut self, run: RunId) -> Result<Vec<KeptPiece>, LogError> {
        let Some((no, _)) = self.run_row(run)? else { return Ok(Vec::new()) };
        self.fill();
        match super::index::pieces(&self.db, no) {
            // The index only saves time, so a damaged one is ignored.
            Err(error) if is_damage(&error) => Ok(Vec::new()),
            pieces => pieces.map_err(|e| self.error(e)),
        }
    }

    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        let Some((no, _)) = self.run_row(run)? else { return Ok(None) };
        self.refill();
        super::index::section(&self.db, no, piece, section).map_err(|e| self.error(e))
    }

    fn check(&mut self, run: Option<RunId>) -> Result<Vec<Finding>, LogError> {
        let Some(run) = run else { return super::integrity::check(self) };
        let found = self.unfindable_event(run)?;
        let finding = |seq| Finding::of_event(run, seq, EventFault::NotLookedUp);
        Ok(found.map(finding).into_iter().collect())
    }

    fn uncounted_events(&mut self, _run: Option<RunId>) -> Result<Vec<UncountedEvents>, LogError> {
        Ok(Vec::new())
    }
}

/// The log error for an SQLite error at an event. It names the event that cannot be read, even if the damage is elsewhere.
fn cannot_read(backend: &SqliteBackend, run: RunId, seq: Seq, error: rusqlite::Error) -> LogError {
    match backend.error(error) {
        LogError::Damaged { fault: why, .. } => {
            LogError::corrupt(run, seq, EventFault::Unreadable { why })
        }
        other => other,
    }
}

/// The size of an event's content and body, in bytes.
fn size(event: &StoredEvent) -> usize {
    let content = match &event.content {
        Some(Content::Text(text)) => text.len(),
        Some(Content::Vector(vector)) => size_of_val(&**vector),
        None => 0,
    };
    content + event.body.len()
}
