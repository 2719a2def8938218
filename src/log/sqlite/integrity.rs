//! What no chain covers: rows that no event refers to, look-up keys, tables and triggers.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;

use super::committer::content_index;
use super::reader::{SqliteReader, content_text};
use super::schema;
use crate::content::Content;
use crate::id::PromptHash;
use crate::log::error::LogError;
use crate::log::skeleton::expand;

/// Messages for people, one a problem.
pub(super) fn check(reader: &SqliteReader) -> Result<Vec<String>, LogError> {
    let parts: [fn(&SqliteReader, &mut Vec<String>) -> rusqlite::Result<()>; 7] =
        [file, meta, triggers, runs, kinds, requests, contents];
    let mut problems = Vec::new();
    for part in parts {
        if let Err(e) = part(reader, &mut problems) {
            problems.push(format!("the file cannot be read to its end: {e}"));
            break;
        }
    }
    Ok(problems)
}

/// SQLite's own structure, its indexes included.
fn file(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut select = reader.db.prepare("PRAGMA integrity_check(5)")?;
    let rows = select.query_map([], |r| r.get::<_, String>(0))?;
    for row in rows {
        let line = row?;
        if line != "ok" {
            problems.push(format!("the SQLite file is damaged: {line}"));
        }
    }
    Ok(())
}

fn meta(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut select = reader.db.prepare("SELECT name, value FROM meta ORDER BY name")?;
    let rows = select.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?)))?;
    let rows: Vec<(String, String)> = rows.collect::<rusqlite::Result<_>>()?;
    let sealed = match rows.as_slice() {
        [(a, format), (b, seal)] => a == "format" && b == "seal" && *seal == schema::seal(format),
        _ => false,
    };
    if !sealed {
        problems.push("table meta: the format and its seal do not fit each other".to_owned());
    }
    Ok(())
}

fn triggers(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?)))?;
    let found: BTreeSet<(String, String)> = rows.collect::<rusqlite::Result<_>>()?;
    for trigger in schema::triggers() {
        if !found.contains(&trigger) {
            problems.push(format!("the trigger {} that refuses changes is missing", trigger.0));
        }
    }
    Ok(())
}

fn runs(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql =
        "SELECT r.no, lower(hex(r.id)) FROM run_ids r LEFT JOIN events e ON e.id = (r.no << 32) + 1
        WHERE e.id IS NULL OR length(r.id) != 8 OR typeof(r.id) != 'blob'";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| r.get::<_, String>(1))?;
    for row in rows {
        problems.push(format!("run {} has no first event", row?));
    }
    let sql = "SELECT e.id FROM events e LEFT JOIN run_ids r ON r.no = e.id >> 32
        WHERE r.no IS NULL OR e.id & 4294967295 = 0 LIMIT 5";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| r.get::<_, i64>(0))?;
    for row in rows {
        let id = row?;
        let (no, seq) = (id >> 32, id & 0xffff_ffff);
        problems.push(format!("event {id} (run number {no}, seq {seq}) belongs to no run"));
    }
    Ok(())
}

fn kinds(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "SELECT id, name FROM kinds WHERE id NOT IN (SELECT kind FROM events)";
    let mut select = reader.db.prepare(sql)?;
    let rows = select.query_map([], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?)))?;
    for row in rows {
        let (id, name) = row?;
        problems.push(format!("kind {id} ({name:?}) belongs to no event"));
    }
    Ok(())
}

/// Every request must hash to what it is stored under, and be asked by some event.
fn requests(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let sql = "SELECT q.id, q.hash, q.skeleton, e.request IS NULL FROM requests q
        LEFT JOIN (SELECT DISTINCT request FROM events) e ON e.request = q.id";
    let mut select = reader.db.prepare(sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let name = || format!("request {id}");
        if row.get(3)? {
            problems.push(format!("{} belongs to no event", name()));
        }
        let (Ok(hash), Ok(skeleton)) = (row.get::<_, [u8; 32]>(1), row.get::<_, String>(2)) else {
            problems.push(format!("{} is unreadable", name()));
            continue;
        };
        let hash = PromptHash(hash);
        match expand(&skeleton, &mut |id| content_text(&reader.db, id)) {
            Ok(request) if request.hash() == hash => {}
            Ok(_) => problems.push(format!("{} does not hash to {hash}", name())),
            Err(e) => problems.push(format!("{} ({hash}): {e}", name())),
        }
    }
    Ok(())
}

/// Every content must have the key it is found by, and be used by an event or a request.
fn contents(reader: &SqliteReader, problems: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut used: BTreeSet<i64> = BTreeSet::new();
    let mut select = reader.db.prepare(
        "SELECT substr(t.atom, 6) FROM requests q, json_tree(q.skeleton) t
         WHERE t.type = 'text' AND t.atom LIKE 'text:%'",
    )?;
    let rows = select.query_map([], |r| r.get::<_, String>(0))?;
    for row in rows {
        used.extend(row?.parse::<i64>().ok());
    }
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
            problems.push(format!(
                "content {id} does not fit its key: its text or its key was changed"
            ));
        }
        if row.get(3)? && !used.contains(&id) {
            problems.push(format!("content {id} belongs to no event or request"));
        }
    }
    Ok(())
}
