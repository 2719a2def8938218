//! Checks what no chain covers: rows that no event refers to, look-up keys, tables and triggers.

use std::collections::BTreeSet;

use rusqlite::ErrorCode;
use rusqlite::types::ValueRef;

use super::contents::content_index;
use super::reader::SqliteReader;
use super::requests::{RequestFault, RequestReader, RequestRow};
use super::sqlite_error::message;
use super::{header, schema};
use crate::content::Content;
use crate::id::PromptHash;
use crate::log::error::LogError;
use crate::log::finding::{Fault, FileFault, Finding, RowFault};

/// One part of the check; it adds the faults that it finds.
type Part = fn(&SqliteReader, &mut Vec<Fault>) -> rusqlite::Result<()>;

/// All faults of what no chain covers.
pub(super) fn check(reader: &mut SqliteReader) -> Result<Vec<Finding>, LogError> {
    reader.fill();
    let reader = &*reader;
    // One snapshot of the log for all parts: others may be writing.
    let moment = reader.db.unchecked_transaction().map_err(|e| reader.error(e))?;
    let parts: [Part; 7] = [file, meta, objects, runs, kinds, requests_and_contents, index];
    let mut faults = Vec::new();
    faults.extend(header::damage(&reader.backend.path).map(Fault::from));
    for part in parts {
        reader.refill();
        if let Err(e) = part(reader, &mut faults) {
            let fault = FileFault::Unreadable { says: message(&e) }.into();
            // A missing table stops several parts.
            if !faults.contains(&fault) {
                faults.push(fault);
            }
            // The other parts would run into the same cycle.
            if e.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) {
                break;
            }
        }
    }
    drop(moment);
    Ok(faults.into_iter().map(Finding::of_file).collect())
}

/// SQLite's own structure, including its indexes.
fn file(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let mut select = reader.db.prepare("PRAGMA integrity_check(5)")?;
    let rows = select.query_map([], |r| r.get::<_, String>(0))?;
    for row in rows {
        let line = row?;
        if line != "ok" {
            faults.push(FileFault::Structure { says: line }.into());
        }
    }
    Ok(())
}

/// The format must match its seal.
fn meta(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    faults.extend(schema::format_fault(&reader.db)?.map(Fault::from));
    Ok(())
}

/// Tables, indexes and triggers must be those of the format, and views those of it or of an earlier release: a changed view
/// shows other things than the log holds, and an added trigger can swallow appended rows.
fn objects(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let (due, found) = (schema::objects()?, schema::objects_of(&reader.db)?);
    let mut triggers = Vec::new();
    for (kind, name, _) in due.difference(&found) {
        match kind.as_str() {
            "trigger" => triggers.push(name),
            "view" if schema::is_of_earlier_log(name, statement(&found, kind, name)) => {}
            _ => {
                let (kind, name) = (kind.clone(), name.clone());
                faults.push(FileFault::MissingOrChanged { kind, name }.into());
            }
        }
    }
    match triggers.as_slice() {
        [first, _, _, _, ..] => {
            let (count, first) = (triggers.len(), (*first).clone());
            faults.push(FileFault::Triggers { count, first }.into());
        }
        few => {
            let missing = |name: &&String| FileFault::Trigger { name: (*name).clone() }.into();
            faults.extend(few.iter().map(missing));
        }
    }
    for (kind, name, _) in found.difference(&due) {
        let known = due.iter().any(|(k, n, _)| k == kind && n == name);
        if kind == "trigger" && !known {
            faults.push(FileFault::StrangeTrigger { name: name.clone() }.into());
        }
    }
    Ok(())
}

/// The statement of a table, index or view of a file.
fn statement<'a>(
    found: &'a BTreeSet<(String, String, String)>,
    kind: &str,
    name: &str,
) -> Option<&'a str> {
    let known = found.iter().find(|(k, n, _)| (k.as_str(), n.as_str()) == (kind, name));
    known.map(|(.., sql)| sql.as_str())
}

fn runs(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let sql =
        "SELECT r.no, lower(hex(r.id)) FROM run_ids r LEFT JOIN events e ON e.id = (r.no << 32) + 1
        WHERE e.id IS NULL OR length(r.id) != 8 OR typeof(r.id) != 'blob'";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| r.get::<_, String>(1))?;
    for row in rows {
        faults.push(RowFault::Run { run: row? }.into());
    }
    let sql = "SELECT e.id FROM events e LEFT JOIN run_ids r ON r.no = e.id >> 32
        WHERE r.no IS NULL OR e.id & 4294967295 = 0 LIMIT 5";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| r.get::<_, i64>(0))?;
    for row in rows {
        let id = row?;
        let (no, seq) = (id >> 32, id & 0xffff_ffff);
        faults.push(RowFault::Event { id, no, seq }.into());
    }
    Ok(())
}

fn kinds(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let sql = "SELECT id, name FROM kinds WHERE id NOT IN (SELECT kind FROM events)";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?)))?;
    for row in rows {
        let (id, name) = row?;
        faults.push(RowFault::Kind { id, name }.into());
    }
    Ok(())
}

/// Every request must hash to the value that it is stored under and be asked by some event; every
/// content must have the key that it is found by and be used by an event or a request.
fn requests_and_contents(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let mut used = BTreeSet::new();
    requests(reader, faults, &mut used)?;
    contents(reader, faults, &used)?;
    keys(reader, faults)
}

fn requests(
    reader: &SqliteReader,
    faults: &mut Vec<Fault>,
    used: &mut BTreeSet<i64>,
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {}, q.hash, e.request IS NULL FROM requests q
        LEFT JOIN (SELECT DISTINCT request FROM events) e ON e.request = q.id ORDER BY q.id",
        RequestRow::COLUMNS
    );
    let mut select = reader.db.prepare(&sql)?;
    let mut rows = select.query([])?;
    // In order, so that the base of a request is checked before the request.
    let mut known = RequestReader::default();
    while let Some(row) = rows.next()? {
        let stored = RequestRow::new(row)?;
        let id = stored.id;
        if row.get(5)? {
            faults.push(RowFault::Request { id }.into());
        }
        let Ok(hash) = row.get::<_, [u8; 32]>(4).map(PromptHash) else {
            faults.push(RowFault::RequestUnreadable { id }.into());
            continue;
        };
        match known.check(&reader.db, &stored, hash, &mut |id| used.extend([id])) {
            Ok(_) => {}
            Err(RequestFault::Wrong(why)) => {
                faults.push(RowFault::RequestChanged { id, prompt: hash, why }.into());
            }
            Err(RequestFault::Sqlite(e)) => return Err(e),
        }
    }
    Ok(())
}

fn contents(
    reader: &SqliteReader,
    faults: &mut Vec<Fault>,
    used: &BTreeSet<i64>,
) -> rusqlite::Result<()> {
    let sql = "SELECT c.id, c.key, c.body, e.content IS NULL FROM contents c
        LEFT JOIN (SELECT DISTINCT content FROM events) e ON e.content = c.id";
    let mut select = reader.db.prepare(sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let content = match row.get_ref(2)? {
            ValueRef::Text(text) => std::str::from_utf8(text).ok().map(Content::from),
            ValueRef::Blob(bytes) => Content::vector_from_bytes(bytes),
            _ => None,
        };
        let key = row.get::<_, i64>(1).ok();
        let fits = content.is_some_and(|c| key == Some(content_index(&c.hash())));
        if !fits {
            faults.push(RowFault::Content { id }.into());
        }
        if row.get(3)? && !used.contains(&id) {
            faults.push(RowFault::ContentUnused { id }.into());
        }
    }
    Ok(())
}

/// The index of keys must hold exactly the contents up to the file's `user_version`.
fn keys(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    let sql = "WITH indexed (upto) AS (SELECT user_version FROM pragma_user_version)
        SELECT c.id, 0 FROM contents c LEFT JOIN content_keys k ON k.key = c.key AND k.id = c.id
          WHERE c.id <= (SELECT upto FROM indexed) AND k.id IS NULL
        UNION ALL
        SELECT k.id, 1 FROM content_keys k LEFT JOIN contents c ON c.id = k.id AND c.key = k.key
          WHERE c.id IS NULL OR k.id > (SELECT upto FROM indexed)";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| Ok((r.get(0)?, r.get(1)?)))?;
    for row in rows.take(5) {
        let (id, is_stray): (i64, bool) = row?;
        let fault = if is_stray { RowFault::KeyStray { id } } else { RowFault::KeyMissing { id } };
        faults.push(fault.into());
    }
    let last = "SELECT user_version NOT BETWEEN 0 AND (SELECT coalesce(max(id), 0) FROM contents)
        FROM pragma_user_version";
    if reader.db.query_row(last, [], |r| r.get(0))? {
        faults.push(RowFault::UserVersion.into());
    }
    Ok(())
}

/// Each row of the index must belong to a piece of a run.
fn index(reader: &SqliteReader, faults: &mut Vec<Fault>) -> rusqlite::Result<()> {
    super::index::check(&reader.db, faults)
}
