//! Contents, each stored once, and the keys they are found by.
//!
//! A key is the first 8 bytes of a hash, so keys come in random order, and an index that takes each at
//! once dirties about as many pages as there are keys in a commit: with it, group commits of 64 texts
//! wrote three times as much as the texts. So the newest keys are kept in memory and added to the
//! index some thousand at a time, in order. Which contents the index covers is in the file's
//! `user_version`; a process that opens the file, or finds that another has written to it, reads the
//! keys of the few that are newer.

use std::collections::BTreeSet;

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use crate::content::Content;
use crate::id::ContentHash;
use crate::lookup::LookupMap;

/// How many ids are remembered by hash before memory is freed: some ten megabytes.
const CACHE: usize = 131_072;

/// How many keys are added to the index at a time.
const SETTLE: usize = 4096;

/// What is known of the stored contents. To be dropped when a transaction fails, since it may hold
/// ids that were never stored.
#[derive(Default)]
pub(super) struct Contents {
    /// A text and a vector may be the same bytes, and are not the same content.
    known: LookupMap<(ContentHash, bool), i64>,
    /// Whether `known` holds every content of the file: then one that it does not hold is new.
    complete: bool,
    /// Keys and ids that the index does not have yet.
    recent: BTreeSet<(i64, i64)>,
    /// The last content that is in the index or in `recent`.
    last: i64,
    /// The last content that is in the index.
    indexed: i64,
}

/// The first 8 bytes of a content's hash, as SQLite's signed integer.
pub(super) fn content_index(hash: &ContentHash) -> i64 {
    let mut first = [0u8; 8];
    first.copy_from_slice(&hash.0[..8]);
    i64::from_be_bytes(first)
}

/// The statements that every new content needs: prepared once for many.
pub(super) struct Statements<'c> {
    find: CachedStatement<'c>,
    add: CachedStatement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn of(tx: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Statements {
            find: tx.prepare_cached("SELECT id FROM content_keys WHERE key = ?1")?,
            add: tx.prepare_cached("INSERT OR FAIL INTO contents (key, body) VALUES (?1, ?2)")?,
        })
    }
}

impl Contents {
    /// Learns of what others have stored since the last transaction.
    pub(super) fn catch_up(&mut self, tx: &Connection) -> rusqlite::Result<()> {
        let last = "SELECT coalesce(max(id), 0) FROM contents";
        let last: i64 = tx.prepare_cached(last)?.query_row([], |r| r.get(0))?;
        if last == self.last {
            self.complete |= last == 0;
            return Ok(());
        }
        self.complete = false;
        self.indexed = tx.pragma_query_value(None, "user_version", |r| r.get(0))?;
        self.recent.retain(|(_, id)| *id > self.indexed);
        let newer = "SELECT key, id FROM contents WHERE id > ?1";
        let mut newer = tx.prepare_cached(newer)?;
        let rows =
            newer.query_map([self.last.max(self.indexed)], |r| Ok((r.get(0)?, r.get(1)?)))?;
        for row in rows {
            self.recent.insert(row?);
        }
        self.last = last;
        Ok(())
    }

    /// The id of a content; stored if it is new. Two contents are the same only if all bytes are.
    pub(super) fn row(
        &mut self,
        tx: &Connection,
        statements: &mut Statements<'_>,
        content: &Content,
        whole: (ContentHash, bool),
    ) -> rusqlite::Result<i64> {
        if let Some(id) = self.known.get(&whole) {
            return Ok(*id);
        }
        let key = content_index(&whole.0);
        let found = match self.complete {
            true => None,
            false => self.find(tx, statements, key, content)?,
        };
        let id = match found {
            Some(id) => id,
            None => self.add(tx, statements, key, content)?,
        };
        if self.known.len() >= CACHE {
            self.known.clear();
            self.complete = false;
        }
        self.known.insert(whole, id);
        Ok(id)
    }

    fn find(
        &self,
        tx: &Connection,
        statements: &mut Statements<'_>,
        key: i64,
        content: &Content,
    ) -> rusqlite::Result<Option<i64>> {
        let mut ids: Vec<i64> =
            self.recent.range((key, 0)..=(key, i64::MAX)).map(|(_, id)| *id).collect();
        if self.indexed > 0 {
            let mut rows = statements.find.query([key])?;
            while let Some(row) = rows.next()? {
                ids.push(row.get(0)?);
            }
        }
        for id in ids {
            let mut same =
                tx.prepare_cached("SELECT 1 FROM contents WHERE id = ?1 AND body = ?2")?;
            let found: Option<i64> = match content {
                Content::Text(text) => same.query_row(params![id, &**text], |r| r.get(0)),
                Content::Vector(_) => same.query_row(params![id, &*content.bytes()], |r| r.get(0)),
            }
            .optional()?;
            if found.is_some() {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn add(
        &mut self,
        tx: &Connection,
        statements: &mut Statements<'_>,
        key: i64,
        content: &Content,
    ) -> rusqlite::Result<i64> {
        match content {
            Content::Text(text) => statements.add.execute(params![key, &**text])?,
            Content::Vector(_) => statements.add.execute(params![key, &*content.bytes()])?,
        };
        self.last = tx.last_insert_rowid();
        self.recent.insert((key, self.last));
        Ok(self.last)
    }

    /// Adds the recent keys to the index once they are many.
    pub(super) fn settle(&mut self, tx: &Connection) -> rusqlite::Result<()> {
        if self.recent.len() < SETTLE {
            return Ok(());
        }
        let mut add =
            tx.prepare_cached("INSERT OR FAIL INTO content_keys (key, id) VALUES (?1, ?2)")?;
        for (key, id) in &self.recent {
            add.execute([key, id])?;
        }
        tx.pragma_update(None, "user_version", self.last)?;
        self.recent.clear();
        self.indexed = self.last;
        Ok(())
    }
}
