//! Reading the file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::guard::Fuel;
use super::requests::{RequestFault, Requests, Stored};
use super::{SqliteBackend, ledger};
use crate::content::Content;
use crate::event::chain::Head;
use crate::event::{KINDS, StoredEvent};
use crate::id::{CallPath, EventHash, PromptHash, RunId, Seq, Time};
use crate::log::backend::{Reader, RunHead};
use crate::log::error::LogError;
use crate::log::index::Section;
use crate::log::ledger::LedgerEntry;
use crate::prompt::Request;

pub(super) struct SqliteReader {
    pub(super) db: Connection,
    pub(super) backend: SqliteBackend,
    fuel: Fuel,
    kinds: BTreeMap<i64, (Cow<'static, str>, u32)>,
    requests: Requests,
    /// The run that was read last, with its number and start, which never change.
    last: Option<(RunId, i64, Time)>,
}

impl SqliteReader {
    pub(super) fn new(db: Connection, backend: SqliteBackend, fuel: Fuel) -> Self {
        let requests = Requests::new(backend.format);
        SqliteReader { db, backend, fuel, kinds: BTreeMap::new(), requests, last: None }
    }

    /// Must be called between queries that go through the whole file.
    pub(super) fn refill(&self) {
        self.fuel.fill();
    }

    /// Must be called before going through the whole file.
    pub(super) fn fill(&mut self) {
        self.fuel.fill_for(self.backend.bytes());
    }

    pub(super) fn error(&self, error: rusqlite::Error) -> LogError {
        self.backend.error(error)
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
        match found.map_err(|e| self.error(e))? {
            // Its events would have no valid ids.
            Some((no, _)) if !(0..1 << 31).contains(&no) => {
                let what = format!("the number of the run, {no}, is out of range");
                Err(LogError::Corrupt { run, seq: Seq(1), what })
            }
            Some((no, Some(started))) => Ok(Some((no, Time(started)))),
            Some((_, None)) => {
                let what = "the time at which the run started is not an integer".to_owned();
                Err(LogError::Corrupt { run, seq: Seq(1), what })
            }
            None => Ok(None),
        }
    }

    /// Does something with the row of a request.
    fn request_of<T>(
        &mut self,
        prompt: PromptHash,
        of: impl FnOnce(&mut Requests, &Connection, &Stored, PromptHash) -> Result<T, RequestFault>,
    ) -> Result<Option<T>, LogError> {
        let found = self.requests.find(&self.db, prompt).map_err(|e| self.error(e))?;
        let Some(stored) = found else { return Ok(None) };
        match of(&mut self.requests, &self.db, &stored, prompt) {
            Ok(made) => Ok(Some(made)),
            Err(RequestFault::Wrong(what)) => Err(LogError::CorruptRequest { prompt, what }),
            Err(RequestFault::Sqlite(e)) => Err(self.error(e)),
        }
    }

    fn load_kinds(&mut self) -> rusqlite::Result<()> {
        let mut select = self.db.prepare_cached("SELECT id, name, version FROM kinds")?;
        let mut rows = select.query([])?;
        let mut kinds = BTreeMap::new();
        while let Some(row) = rows.next()? {
            // A damaged kind is left out: then the events of that kind are reported.
            let (Ok(name), Ok(version)) = (row.get::<_, String>(1), row.get(2)) else { continue };
            let known = KINDS.iter().find(|known| **known == name);
            let name = known.map_or(Cow::Owned(name), |known| Cow::Borrowed(*known));
            kinds.insert(row.get(0)?, (name, version));
        }
        drop(rows);
        drop(select);
        self.kinds = kinds;
        Ok(())
    }
}

/// How many bytes of contents and bodies are read together: a content may be large and belong to
/// many events.
const MOST_BYTES: usize = 32 << 20;

const EVENTS: &str = "
    SELECT e.id, e.kind, e.time, e.call, e.sample, e.request, q.hash, e.cause, e.content, c.body,
      e.body, e.hash
    FROM events e LEFT JOIN requests q ON q.id = e.request LEFT JOIN contents c ON c.id = e.content
    WHERE e.id > ?1 AND e.id < ?2 ORDER BY e.id LIMIT ?3";

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
        read().map_err(|e| self.error(e))
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        self.fuel.fill();
        let Some((no, started)) = self.run_row(run)? else { return Ok(Vec::new()) };
        if self.kinds.is_empty() {
            self.load_kinds().map_err(|e| self.error(e))?;
        }
        let from = after;
        let mut reread = false;
        loop {
            let read = || -> rusqlite::Result<Result<Vec<StoredEvent>, Damage>> {
                let mut select = self.db.prepare_cached(EVENTS)?;
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                // No run has as many events as that, so the range never reaches another run's
                // events.
                let after = i64::from(u32::try_from(after.0).unwrap_or(u32::MAX));
                let bounds = params![(no << 32) + after, (no + 1) << 32, limit];
                let mut rows = select.query(bounds)?;
                let mut events = Vec::with_capacity(limit.clamp(0, 4096) as usize);
                let mut bytes = 0;
                let mut last = from;
                while bytes < MOST_BYTES
                    && let Some(row) = rows.next()?
                {
                    match stored(row, run, started, &self.kinds).and_then(|e| in_order(e, last)) {
                        Ok(event) => {
                            bytes += size(&event);
                            last = event.seq;
                            events.push(event);
                        }
                        // The next call will hit the error again.
                        Err(_) if !events.is_empty() => break,
                        Err(damage) => return Ok(Err(damage)),
                    }
                }
                Ok(Ok(events))
            };
            match read().map_err(|e| self.error(e))? {
                Ok(events) => return Ok(events),
                // Another process may have added a kind since we read them.
                Err(Damage { what, .. }) if what == UNKNOWN_KIND && !reread => {
                    reread = true;
                    self.load_kinds().map_err(|e| self.error(e))?;
                }
                Err(Damage { seq, what }) => {
                    return Err(LogError::Corrupt { run, seq, what: what.to_owned() });
                }
            }
        }
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Option<Vec<LedgerEntry>>, LogError> {
        self.fuel.fill();
        ledger::read(self, after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.fuel.fill();
        self.request_of(prompt, Requests::whole)
    }

    fn check_request(&mut self, prompt: PromptHash) -> Result<bool, LogError> {
        self.fuel.fill();
        let check = |requests: &mut Requests, db: &Connection, stored: &Stored, prompt| {
            requests.check(db, stored, prompt, &mut |_| {})
        };
        Ok(self.request_of(prompt, check)?.is_some())
    }

    fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        self.fuel.fill();
        let model = |requests: &mut Requests, db: &Connection, stored: &Stored, prompt| {
            let part = requests.check(db, stored, prompt, &mut |_| {})?;
            Ok(part.request.model().map(str::to_owned))
        };
        Ok(self.request_of(prompt, model)?.flatten())
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

    fn pieces(&mut self, run: RunId) -> Result<Vec<u64>, LogError> {
        let Some((no, _)) = self.run_row(run)? else { return Ok(Vec::new()) };
        self.fill();
        super::index::pieces(&self.db, no).map_err(|e| self.error(e))
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

    fn integrity(&mut self) -> Result<Vec<String>, LogError> {
        super::integrity::check(self)
    }
}

/// The size of an event, in bytes.
fn size(event: &StoredEvent) -> usize {
    let content = match &event.content {
        Some(Content::Text(text)) => text.len(),
        Some(Content::Vector(vector)) => size_of_val(&**vector),
        None => 0,
    };
    content + event.body.len()
}

/// An event that cannot be read.
struct Damage {
    seq: Seq,
    what: &'static str,
}

/// SQLite assumes that rows are in order. In a damaged file they need not be, and continuing from
/// an earlier one would never end.
fn in_order(event: StoredEvent, last: Seq) -> Result<StoredEvent, Damage> {
    let what = "another event is in its place";
    if event.seq > last { Ok(event) } else { Err(Damage { seq: last.next(), what }) }
}

const UNKNOWN_KIND: &str = "its kind is not in the table kinds";

fn stored(
    row: &Row<'_>,
    run: RunId,
    started: Time,
    kinds: &BTreeMap<i64, (Cow<'static, str>, u32)>,
) -> Result<StoredEvent, Damage> {
    let id: i64 =
        row.get(0).map_err(|_| Damage { seq: Seq(0), what: "its id is not an integer" })?;
    let seq = Seq((id & 0xffff_ffff) as u64);
    let bad = |what| Damage { seq, what };
    let integer = |column, what| row.get::<_, i64>(column).map_err(|_| bad(what));
    let optional = |column, what| row.get::<_, Option<i64>>(column).map_err(|_| bad(what));

    let kind = integer(1, "its kind is not an integer")?;
    let (kind, version) = kinds.get(&kind).cloned().ok_or_else(|| bad(UNKNOWN_KIND))?;
    let time = started.0.checked_add(integer(2, "its time is not an integer")?);
    let time = Time(time.ok_or_else(|| bad("its time is out of range"))?);
    let call = match row.get_ref(3).map_err(|_| bad("its call is unreadable"))? {
        ValueRef::Null => None,
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| bad("its call is not UTF-8"))?;
            Some(CallPath::new(text).map_err(|_| bad("its call is not a call path"))?)
        }
        _ => return Err(bad("its call is not text")),
    };
    let sample = optional(4, "its sample is not an integer")?.map(u32::try_from).transpose();
    let sample = sample.map_err(|_| bad("its sample is out of range"))?;
    let prompt = match optional(5, "its request is not an integer")? {
        None => None,
        Some(_) => {
            let hash = row.get::<_, Option<[u8; 32]>>(6);
            let hash = hash.map_err(|_| bad("the hash of its request is not 32 bytes"))?;
            Some(PromptHash(hash.ok_or_else(|| bad("its request is missing"))?))
        }
    };
    let cause = optional(7, "its cause is not an integer")?.map(u64::try_from).transpose();
    let cause = cause.map_err(|_| bad("its cause is out of range"))?.map(Seq);
    let content = match optional(8, "its content is not an integer")? {
        None => None,
        Some(_) => Some(match row.get_ref(9).map_err(|_| bad("its content is unreadable"))? {
            ValueRef::Text(text) => {
                let text =
                    std::str::from_utf8(text).map_err(|_| bad("its content is not UTF-8"))?;
                Content::Text(text.into())
            }
            ValueRef::Blob(bytes) => Content::vector_from_bytes(bytes)
                .ok_or_else(|| bad("its vector is not a whole number of floats"))?,
            ValueRef::Null => return Err(bad("its content is missing")),
            _ => return Err(bad("its content is neither text nor vector")),
        }),
    };
    let body = match row.get_ref(10).map_err(|_| bad("its body is unreadable"))? {
        ValueRef::Null => Cow::Borrowed("{}"),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| bad("its body is not UTF-8"))?;
            Cow::Owned(text.to_owned())
        }
        _ => return Err(bad("its body is not text")),
    };
    let hash = EventHash(row.get(11).map_err(|_| bad("its hash is not 32 bytes"))?);
    Ok(StoredEvent {
        run,
        seq,
        kind,
        version,
        time,
        call,
        sample,
        prompt,
        cause,
        content,
        body,
        hash,
    })
}
