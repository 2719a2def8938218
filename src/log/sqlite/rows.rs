//! The rows of the table of events: the statement that reads them, and how each becomes an event.

use std::borrow::Cow;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::content::Content;
use crate::event::StoredEvent;
use crate::id::{CallPath, EventHash, PromptHash, RunId, Seq, Time};
use crate::log::finding::EventFault;
use crate::log::finding::FieldFault::{
    Missing, NeitherTextNorVector, NotACallPath, NotAnInteger, NotBytes, NotText, NotUtf8,
    OutOfRange, PartOfAFloat, Unnamed, Unreadable,
};

/// The statement that reads events after an id and before another. If the file has lost the table of
/// requests or of contents, the events that refer to none can still be read.
pub(super) fn statement(db: &Connection) -> rusqlite::Result<Arc<str>> {
    let mut table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    let (hash, requests) = match table.exists(["requests"])? {
        true => ("q.hash", "LEFT JOIN requests q ON q.id = e.request"),
        false => ("NULL", ""),
    };
    let (body, contents) = match table.exists(["contents"])? {
        true => ("c.body", "LEFT JOIN contents c ON c.id = e.content"),
        false => ("NULL", ""),
    };
    Ok(format!(
        "SELECT e.id, e.kind, e.time, e.call, e.sample, e.request, {hash}, e.cause, e.content, {body},
          e.body, e.hash
        FROM events e {requests} {contents}
        WHERE e.id > ?1 AND e.id < ?2 ORDER BY e.id LIMIT ?3"
    )
    .into())
}

/// An event that cannot be read.
pub(super) struct UnreadableRow {
    pub(super) seq: Seq,
    pub(super) fault: EventFault,
}

/// The event of a row that comes after the event `last` of a run, which is given with its number and start.
pub(super) fn stored_event(
    row: &Row<'_>,
    run: RunId,
    no: i64,
    started: Time,
    last: Seq,
    kinds: impl FnOnce(i64) -> Option<(Cow<'static, str>, u32)>,
) -> Result<StoredEvent, UnreadableRow> {
    let not_next = |fault| UnreadableRow { seq: last.next(), fault };
    let id: i64 = row.get(0).map_err(|_| not_next(EventFault::field("id", NotAnInteger)))?;
    let seq = Seq((id & 0xffff_ffff) as u64);
    // SQLite assumes that rows are in order. In a damaged file they need not be, and continuing from
    // an earlier one would never end.
    if seq <= last || id >> 32 != no {
        return Err(not_next(EventFault::Displaced));
    }
    let bad = |field, is| UnreadableRow { seq, fault: EventFault::field(field, is) };
    let integer = |column, field| row.get::<_, i64>(column).map_err(|_| bad(field, NotAnInteger));
    let optional =
        |column, field| row.get::<_, Option<i64>>(column).map_err(|_| bad(field, NotAnInteger));

    let kind = integer(1, "kind")?;
    let (kind, version) = kinds(kind).ok_or_else(|| bad("kind", Unnamed))?;
    let time = started.0.checked_add(integer(2, "time")?);
    let time = Time(time.ok_or_else(|| bad("time", OutOfRange))?);
    let call = match row.get_ref(3).map_err(|_| bad("call", Unreadable))? {
        ValueRef::Null => None,
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| bad("call", NotUtf8))?;
            Some(CallPath::new(text).map_err(|_| bad("call", NotACallPath))?)
        }
        _ => return Err(bad("call", NotText)),
    };
    let sample = optional(4, "sample")?.map(u32::try_from).transpose();
    let sample = sample.map_err(|_| bad("sample", OutOfRange))?;
    let prompt = match optional(5, "request")? {
        None => None,
        Some(_) => {
            let hash = row.get::<_, Option<[u8; 32]>>(6);
            let hash = hash.map_err(|_| bad("request hash", NotBytes(32)))?;
            Some(PromptHash(hash.ok_or_else(|| bad("request", Missing))?))
        }
    };
    let cause = optional(7, "cause")?.map(u64::try_from).transpose();
    let cause = cause.map_err(|_| bad("cause", OutOfRange))?.map(Seq);
    let content = match optional(8, "content")? {
        None => None,
        Some(_) => Some(match row.get_ref(9).map_err(|_| bad("content", Unreadable))? {
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|_| bad("content", NotUtf8))?;
                Content::Text(text.into())
            }
            ValueRef::Blob(bytes) => {
                Content::vector_from_bytes(bytes).ok_or_else(|| bad("vector", PartOfAFloat))?
            }
            ValueRef::Null => return Err(bad("content", Missing)),
            _ => return Err(bad("content", NeitherTextNorVector)),
        }),
    };
    let body = match row.get_ref(10).map_err(|_| bad("body", Unreadable))? {
        ValueRef::Null => Cow::Borrowed("{}"),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).map_err(|_| bad("body", NotUtf8))?;
            Cow::Owned(text.to_owned())
        }
        _ => return Err(bad("body", NotText)),
    };
    let hash = EventHash(row.get(11).map_err(|_| bad("hash", NotBytes(32)))?);
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
