//! The rows of the table of events: the statement that reads them, and how each becomes an event.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::content::Content;
use crate::event::StoredEvent;
use crate::id::{CallPath, EventHash, PromptHash, RunId, Seq, Time};

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
pub(super) struct Damage {
    pub(super) seq: Seq,
    pub(super) what: &'static str,
}

pub(super) const UNKNOWN_KIND: &str = "its kind is not in the table kinds";

/// The event of a row that comes after the event `last` of a run, which is given with its number and start.
pub(super) fn stored(
    row: &Row<'_>,
    (run, no, started): (RunId, i64, Time),
    last: Seq,
    kinds: &BTreeMap<i64, (Cow<'static, str>, u32)>,
) -> Result<StoredEvent, Damage> {
    let not_next = |what| Damage { seq: last.next(), what };
    let id: i64 = row.get(0).map_err(|_| not_next("its id is not an integer"))?;
    let seq = Seq((id & 0xffff_ffff) as u64);
    // SQLite assumes that rows are in order. In a damaged file they need not be, and continuing from
    // an earlier one would never end.
    if seq <= last || id >> 32 != no {
        return Err(not_next("another event is in its place"));
    }
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
