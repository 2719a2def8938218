//! Ids of rows that are looked up before they are added.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::beginnings::KnownBeginnings;
use super::contents::{ContentStatements, Contents};
use super::index::Indexing;
use super::requests::find_request;
use super::stop::TransactionError;
use crate::content::Content;
use crate::event::chain::content_key;
use crate::id::{PromptHash, RunId, Time};
use crate::log::lists::Base;
use crate::log::skeleton::externalise_from;
use crate::lookup::LookupMap;
use crate::prompt::Request;

/// How many requests are remembered before memory is freed: a few megabytes.
const CACHE: usize = 32_768;

/// Ids of rows that exist forever. Dropped when a transaction fails, since it may hold ids that
/// were never stored.
#[derive(Default)]
pub(super) struct StoredIds {
    kinds: BTreeMap<(String, u32), i64>,
    runs: BTreeMap<RunId, (i64, Time)>,
    requests: LookupMap<PromptHash, i64>,
    beginnings: KnownBeginnings,
    pub(super) contents: Contents,
    pub(super) index: Indexing,
}

impl StoredIds {
    /// The number and start of a run, which is added at its first event.
    pub(super) fn run(
        &mut self,
        tx: &Connection,
        run: RunId,
        time: Time,
    ) -> rusqlite::Result<(i64, Time)> {
        if let Some(row) = self.runs.get(&run) {
            return Ok(*row);
        }
        let find = "SELECT no, started FROM run_ids WHERE id = ?1";
        let found = tx
            .prepare_cached(find)?
            .query_row([run.as_bytes()], |r| Ok((r.get(0)?, Time(r.get(1)?))))
            .optional()?;
        let row = match found {
            Some(row) => row,
            None => {
                tx.prepare_cached("INSERT OR FAIL INTO run_ids (id, started) VALUES (?1, ?2)")?
                    .execute(params![run.as_bytes(), time.0])?;
                (tx.last_insert_rowid(), time)
            }
        };
        self.runs.insert(run, row);
        Ok(row)
    }

    /// The id of a kind and version.
    pub(super) fn kind(
        &mut self,
        tx: &Connection,
        name: &str,
        version: u32,
    ) -> rusqlite::Result<i64> {
        // There are only a handful of kinds: a scan is as fast as a look-up and borrows the name.
        if let Some((_, id)) = self.kinds.iter().find(|((n, v), _)| n == name && *v == version) {
            return Ok(*id);
        }
        let find = "SELECT id FROM kinds WHERE name = ?1 AND version = ?2";
        let found =
            tx.prepare_cached(find)?.query_row(params![name, version], |r| r.get(0)).optional()?;
        let id = match found {
            Some(id) => id,
            None => {
                tx.prepare_cached("INSERT OR FAIL INTO kinds (name, version) VALUES (?1, ?2)")?
                    .execute(params![name, version])?;
                tx.last_insert_rowid()
            }
        };
        self.kinds.insert((name.to_owned(), version), id);
        Ok(id)
    }

    /// The id of a request. Its long texts are contents, and its first messages are those of an
    /// earlier request.
    pub(super) fn request(
        &mut self,
        tx: &Connection,
        statements: &mut ContentStatements<'_>,
        request: &Request,
    ) -> Result<i64, TransactionError> {
        let hash = request.hash();
        if let Some(id) = self.requests.get(&hash) {
            return Ok(*id);
        }
        let shared = self.beginnings.shared_by(tx, request)?;
        let base = shared.base;
        let left_out = base.map_or(0, |base| base.messages);
        let before = self.contents.last();
        let skeleton =
            externalise_from(request, left_out, &mut |text| -> Result<String, TransactionError> {
                let content = Content::from(text);
                let key = content_key(&content);
                Ok(self.contents.row(tx, statements, &content, key)?.to_string())
            })?;
        // A stored request has all its texts stored, so a request with a new text need not be
        // looked up.
        let found = if self.contents.last() == before { find_request(tx, hash)? } else { None };
        let id = match (found, base) {
            (Some(id), _) => id,
            (None, None) => {
                tx.prepare_cached("INSERT OR FAIL INTO requests (hash, skeleton) VALUES (?1, ?2)")?
                    .execute(params![hash.as_bytes(), skeleton])?;
                tx.last_insert_rowid()
            }
            (None, Some(Base { of, messages })) => {
                let add = "INSERT OR FAIL INTO requests (hash, skeleton, base, shared)
                    VALUES (?1, ?2, ?3, ?4)";
                let add = &mut tx.prepare_cached(add)?;
                add.execute(params![hash.as_bytes(), skeleton, of, messages as i64])?;
                tx.last_insert_rowid()
            }
        };
        match found {
            Some(_) => self.beginnings.note_known(tx, request, &shared)?,
            None => self.beginnings.note_new(request, &shared, id),
        }
        if self.requests.len() >= CACHE {
            self.requests.clear();
        }
        self.requests.insert(hash, id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Writers that take turns: what one has stored is found by another that has never seen it,
    /// whether or not the request has a text that is stored separately.
    #[test]
    fn a_request_is_stored_once_whichever_process_asks_it() {
        let db = Connection::open_in_memory().unwrap();
        super::super::schema::make(&db).unwrap();
        let chat = |text: &str, temperature: f64| {
            let message = json!({"role": "user", "content": text});
            let body = json!({"model": "m", "messages": [message], "temperature": temperature});
            Request::from_body(body).unwrap()
        };
        let long = "How do you make 24 of 10, 4, 5 and 1? ".repeat(3);
        // The third has only texts that the first has; the last has none that is stored separately.
        let requests = [chat(&long, 0.5), chat("24?", 0.5), chat(&long, 0.25), chat("24?", 0.25)];
        let mut statements = ContentStatements::new(&db).unwrap();
        let mut ids = Vec::new();
        for _ in 0..3 {
            let mut known = StoredIds::default();
            known.contents.catch_up(&db).unwrap();
            let id = |request| known.request(&db, &mut statements, request).ok().unwrap();
            ids.push(requests.iter().map(id).collect::<Vec<_>>());
        }
        assert_eq!(ids, vec![vec![1, 2, 3, 4]; 3]);
        let rows: i64 = db.query_row("SELECT count(*) FROM requests", [], |r| r.get(0)).unwrap();
        assert_eq!(rows, 4);
    }
}
