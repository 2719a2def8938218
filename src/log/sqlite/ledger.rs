//! The ledger as a table.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::reader::SqliteReader;
use crate::event::chain::Head;
use crate::id::{EventHash, LedgerHash, RunId, Seq};
use crate::log::error::LogError;
use crate::log::finding::{FieldFault, LedgerFault};
use crate::log::ledger::{LedgerChange, LedgerEntry, LedgerHead};

/// Adds an entry at the end, which is looked up unless it is known.
pub(super) fn add(
    tx: &Connection,
    end: Option<LedgerHead>,
    change: LedgerChange,
    run: RunId,
    head: Head,
) -> rusqlite::Result<LedgerHead> {
    let end = match end {
        Some(end) => end,
        None => end_of(tx)?,
    };
    let entry = LedgerEntry::after(end, change, run, head);
    let sql = "INSERT OR FAIL INTO ledger (no, what, run, seq, head, hash)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    tx.prepare_cached(sql)?.execute(params![
        entry.number as i64,
        entry.change.as_str(),
        run.as_bytes(),
        head.seq.0 as i64,
        head.hash.as_bytes(),
        entry.hash.as_bytes(),
    ])?;
    Ok(entry.ledger_head())
}

fn end_of(tx: &Connection) -> rusqlite::Result<LedgerHead> {
    let last = "SELECT no, hash FROM ledger ORDER BY no DESC LIMIT 1";
    let end = |r: &Row<'_>| {
        let number = r.get::<_, i64>(0)?;
        let out_of_range = |_| rusqlite::Error::IntegralValueOutOfRange(0, number);
        let number = u64::try_from(number).map_err(out_of_range)?;
        Ok(LedgerHead { number, hash: LedgerHash(r.get(1)?) })
    };
    let last = tx.prepare_cached(last)?.query_row([], end).optional()?;
    Ok(last.unwrap_or(LedgerHead::START))
}

/// See [`Reader::ledger`](crate::log::Reader::ledger).
pub(super) fn read(
    reader: &SqliteReader,
    after: u64,
    limit: usize,
) -> Result<Vec<LedgerEntry>, LogError> {
    let read = || -> rusqlite::Result<Result<Vec<LedgerEntry>, LogError>> {
        let db = &reader.db;
        // The first query must also find a row whose number is invalid.
        let from = if after == 0 { i64::MIN } else { i64::try_from(after).unwrap_or(i64::MAX) };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql =
            "SELECT no, what, run, seq, head, hash FROM ledger WHERE no > ?1 ORDER BY no LIMIT ?2";
        let mut select = db.prepare_cached(sql)?;
        let mut rows = select.query([from, limit])?;
        let mut entries: Vec<LedgerEntry> = Vec::new();
        while let Some(row) = rows.next()? {
            let last = entries.last().map_or(after, |entry| entry.number);
            match entry(row, last) {
                Ok(entry) => entries.push(entry),
                // The next call will hit the error again.
                Err(_) if !entries.is_empty() => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(entries))
    };
    read().map_err(|e| reader.error(e))?
}

fn entry(row: &Row<'_>, last: u64) -> Result<LedgerEntry, LogError> {
    let corrupt = |fault: LedgerFault| LogError::CorruptLedger { fault: Box::new(fault.into()) };
    let number: Option<i64> = row.get(0).ok();
    // In a damaged file rows need not be in order, and continuing from an earlier one would never
    // end.
    let number = number.and_then(|number| u64::try_from(number).ok()).filter(|n| *n > last);
    let displaced = || corrupt(LedgerFault::Displaced { number: last + 1 });
    let number = number.ok_or_else(displaced)?;
    let bad =
        |field: &'static str, is| corrupt(LedgerFault::Field { number, field: field.into(), is });
    let what: String = row.get(1).map_err(|_| bad("change", FieldFault::NotText))?;
    let run = RunId(row.get(2).map_err(|_| bad("run", FieldFault::NotBytes(8)))?);
    let seq: i64 = row.get(3).map_err(|_| bad("seq", FieldFault::NotAnInteger))?;
    let seq = Seq(u64::try_from(seq).map_err(|_| bad("seq", FieldFault::OutOfRange))?);
    let head = EventHash(row.get(4).map_err(|_| bad("head", FieldFault::NotBytes(32)))?);
    let hash = LedgerHash(row.get(5).map_err(|_| bad("hash", FieldFault::NotBytes(32)))?);
    let head = Head { seq, hash: head };
    Ok(LedgerEntry { number, change: LedgerChange::from(what.as_str()), run, head, hash })
}

/// The end of a run.
pub(super) fn head_of(tx: &Connection, no: i64) -> rusqlite::Result<Head> {
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
