//! The index of a run's events in the file: one row per section of each piece.
//!
//! The id of a row combines the id of the last event before the piece and the number of the
//! section. Pieces are appended one after the other, and each is found with one look-up.

use std::collections::BTreeMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

use crate::event::NewEvent;
use crate::id::Seq;
use crate::log::finding::{Fault, RowFault};
use crate::log::index::{
    Builder, IndexEntry, IndexPiece, KeptPiece, PIECE, Section, first, last, place,
};

/// For how many runs the newest piece is built as events arrive; for others, the events are read
/// again.
const RUNS: usize = 64;

/// Makes the pieces of appended events. Must be dropped when a transaction fails.
#[derive(Default)]
pub(super) struct Indexing {
    /// The next piece of each run, by the number of the run.
    making: BTreeMap<i64, Builder>,
}

impl Indexing {
    /// Adds an event that was appended.
    pub(super) fn add(
        &mut self,
        tx: &Connection,
        no: i64,
        seq: Seq,
        event: &NewEvent,
    ) -> rusqlite::Result<()> {
        let (piece, at) = place(seq);
        if at == 1 {
            if self.making.len() >= RUNS {
                self.making.clear();
            }
            self.making.insert(no, Builder::default());
        }
        if let Some(builder) = self.making.get_mut(&no) {
            builder.add(seq, IndexEntry::from(event));
        }
        if at < PIECE {
            return Ok(());
        }
        match self.making.remove(&no).map(Builder::finish) {
            Some(whole) => store(tx, no, piece, &whole),
            // Another process began it.
            None => make(tx, no, piece),
        }
    }
}

fn id(no: i64, piece: u64, section: Section) -> i64 {
    (no << 32) + (piece * PIECE) as i64 + section.number()
}

fn store(tx: &Connection, no: i64, piece: u64, whole: &IndexPiece) -> rusqlite::Result<()> {
    let add = "INSERT OR FAIL INTO event_index (id, entries) VALUES (?1, ?2)";
    let mut add = tx.prepare_cached(add)?;
    for section in Section::ALL {
        add.execute(params![id(no, piece, section), whole.section(section)])?;
    }
    Ok(())
}

/// Makes and stores a piece from stored events. Damaged events get no piece: a look-up then reads
/// them and reports the damage.
fn make(tx: &Connection, no: i64, piece: u64) -> rusqlite::Result<()> {
    match of_events(tx, no, piece) {
        Ok(Some(whole)) => store(tx, no, piece, &whole),
        _ => Ok(()),
    }
}

/// The piece that the stored events give; `None` if one is missing or cannot be read.
fn of_events(tx: &Connection, no: i64, piece: u64) -> rusqlite::Result<Option<IndexPiece>> {
    let events = "SELECT e.id & 4294967295, k.name, k.version, e.call, e.cause, c.body, e.body
        FROM events e LEFT JOIN kinds k ON k.id = e.kind LEFT JOIN contents c ON c.id = e.content
        WHERE e.id >= ?1 AND e.id <= ?2 ORDER BY e.id";
    let mut select = tx.prepare_cached(events)?;
    let base = no << 32;
    let mut rows = select.query([base + first(piece).0 as i64, base + last(piece).0 as i64])?;
    let (mut builder, mut due) = (Builder::default(), first(piece));
    while let Some(row) = rows.next()? {
        let seq = Seq(row.get::<_, i64>(0)? as u64);
        let text = |column: usize| match row.get_ref(column) {
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        };
        let (Some(kind), true) = (text(1), seq == due) else { return Ok(None) };
        let cause = row.get::<_, Option<i64>>(4)?.and_then(|cause| u64::try_from(cause).ok());
        let entry = IndexEntry {
            kind,
            version: row.get(2)?,
            call: text(3),
            cause: cause.map(Seq),
            text: text(5).unwrap_or(""),
            body: text(6).unwrap_or("{}"),
        };
        builder.add(seq, entry);
        due = due.next();
    }
    Ok((due > last(piece)).then(|| builder.finish()))
}

/// The pieces of a run.
pub(super) fn pieces(db: &Connection, no: i64) -> rusqlite::Result<Vec<KeptPiece>> {
    // Only ids are read, so the entries are not visited.
    let ids = "SELECT (id & 4294967295) / ?1 FROM event_index
        WHERE id > ?2 << 32 AND id < (?2 + 1) << 32 AND id & (?1 - 1) = ?3 ORDER BY id";
    let mut select = db.prepare_cached(ids)?;
    let bounds = params![PIECE as i64, no, Section::Census.number()];
    let pieces = select
        .query_map(bounds, |r| r.get::<_, i64>(0).map(|piece| KeptPiece::whole(piece as u64)))?;
    pieces.collect()
}

/// The contents of a section of a piece.
pub(super) fn section(
    db: &Connection,
    no: i64,
    piece: u64,
    section: Section,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let find = "SELECT entries FROM event_index WHERE id = ?1";
    db.prepare_cached(find)?.query_row([id(no, piece, section)], |r| r.get(0)).optional()
}

/// Finds rows that belong to no piece of a run. Whether the pieces are those that the events give is compared
/// when the events are read.
pub(super) fn check(db: &Connection, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let lacking = "SELECT id FROM event_index GROUP BY id / ?1 HAVING count(*) <> ?2";
    let mut lacking = db.prepare(lacking)?;
    let all = Section::ALL.len() as i64;
    let rows = lacking.query_map([PIECE as i64, all], |r| r.get::<_, i64>(0))?;
    for id in rows {
        faults.push(RowFault::IndexPart { id: id? }.into());
    }
    let strays = "SELECT i.id >> 32, i.id & (?1 - 1) FROM event_index i LEFT JOIN run_ids r ON r.no = i.id >> 32
        WHERE r.no IS NULL OR i.id & (?1 - 1) NOT BETWEEN 1 AND ?2";
    let mut strays = db.prepare(strays)?;
    let mut rows = strays.query([PIECE as i64, all])?;
    while let Some(row) = rows.next()? {
        let (no, number): (i64, i64) = (row.get(0)?, row.get(1)?);
        faults.push(RowFault::IndexStray { no, number }.into());
    }
    Ok(())
}
