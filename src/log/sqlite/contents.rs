//! Contents, each stored once, and the keys that they are found by.
//!
//! A key is the first 8 bytes of a hash, so keys come in random order, and an index that is updated
//! with each of them dirties about as many pages as a commit has keys: group commits of 64 texts
//! then wrote three times as much as the texts themselves. So the newest keys are kept in memory
//! and added to the index a few thousand at a time, in order. The file's `user_version` says which
//! contents the index covers. A process that opens the file, or finds that another has written to
//! it, reads the keys of the few newer ones.
//!
//! Most contents are new. To know this without a look-up, a file's keys are kept in memory as long
//! as there are not too many.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use crate::content::Content;
use crate::id::ContentHash;
use crate::lookup::{LookupMap, LookupSet};

/// How many ids are remembered by hash before memory is freed: some ten megabytes.
const CACHE: usize = 131_072;

/// How many keys are kept in memory to recognise new contents at once: about five megabytes,
/// read in about ten milliseconds.
const KEYS: usize = 262_144;

/// How many keys are added to the index at a time.
const SETTLE: usize = 4096;

/// The least number of keys on a page of the index, if pages have 16 kB and are half full.
const KEYS_A_PAGE: u64 = 400;

/// The stored contents, as far as they are known. Must be dropped when a transaction fails, since
/// it may hold ids that were never stored.
pub(super) struct Contents {
    /// Contents that occurred more than once. A text and a vector may have the same bytes and still
    /// are different contents.
    known: LookupMap<(ContentHash, bool), i64>,
    /// The keys of all contents, unless there are too many: a content whose key is missing here is
    /// new.
    keys: Option<LookupSet<i64>>,
    /// Keys and ids that are not in the index yet.
    recent: Vec<(i64, i64)>,
    /// The last content that is in the index or in `recent`.
    last: i64,
    /// The last content that is in the index.
    indexed: i64,
}

impl Default for Contents {
    fn default() -> Self {
        let keys = Some(LookupSet::default());
        Contents { known: LookupMap::default(), keys, recent: Vec::new(), last: 0, indexed: 0 }
    }
}

/// The first 8 bytes of a content's hash, as SQLite's signed integer.
pub(super) fn content_index(hash: &ContentHash) -> i64 {
    let mut first = [0u8; 8];
    first.copy_from_slice(&hash.0[..8]);
    i64::from_be_bytes(first)
}

/// The statements that every new content needs, prepared once for many.
pub(super) struct ContentStatements<'c> {
    find: CachedStatement<'c>,
    add: CachedStatement<'c>,
}

impl<'c> ContentStatements<'c> {
    pub(super) fn new(tx: &'c Connection) -> rusqlite::Result<Self> {
        Ok(ContentStatements {
            find: tx.prepare_cached("SELECT id FROM content_keys WHERE key = ?1")?,
            add: tx.prepare_cached("INSERT OR FAIL INTO contents (key, body) VALUES (?1, ?2)")?,
        })
    }
}

impl Contents {
    /// The id of the last content; it changes when one is added.
    pub(super) fn last(&self) -> i64 {
        self.last
    }

    /// Learns what others have stored since the last transaction.
    pub(super) fn catch_up(&mut self, tx: &Connection) -> rusqlite::Result<()> {
        let last = "SELECT coalesce(max(id), 0) FROM contents";
        let last: i64 = tx.prepare_cached(last)?.query_row([], |r| r.get(0))?;
        if last == self.last {
            return Ok(());
        }
        self.indexed = tx.pragma_query_value(None, "user_version", |r| r.get(0))?;
        self.recent.retain(|(_, id)| *id > self.indexed);
        if self.last < self.indexed {
            self.read_index(tx)?;
        }
        let newer = "SELECT key, id FROM contents WHERE id > ?1";
        let mut newer = tx.prepare_cached(newer)?;
        let mut rows = newer.query([self.last.max(self.indexed)])?;
        while let Some(row) = rows.next()? {
            self.learn(row.get(0)?, row.get(1)?);
        }
        self.last = last;
        Ok(())
    }

    /// Reads the keys that others have added to the index.
    fn read_index(&mut self, tx: &Connection) -> rusqlite::Result<()> {
        let Some(keys) = self.keys.as_mut().filter(|_| self.indexed <= KEYS as i64) else {
            self.keys = None;
            return Ok(());
        };
        let mut indexed = tx.prepare_cached("SELECT key FROM content_keys")?;
        let mut rows = indexed.query([])?;
        while let Some(row) = rows.next()? {
            keys.insert(row.get(0)?);
        }
        Ok(())
    }

    fn learn(&mut self, key: i64, id: i64) {
        self.recent.push((key, id));
        if let Some(keys) = &mut self.keys {
            keys.insert(key);
        }
        self.keys.take_if(|keys| keys.len() > KEYS);
    }

    /// The id of a content, which is stored if it is new. Two contents are equal only if all bytes
    /// are.
    pub(super) fn row(
        &mut self,
        tx: &Connection,
        statements: &mut ContentStatements<'_>,
        content: &Content,
        whole: (ContentHash, bool),
    ) -> rusqlite::Result<i64> {
        if let Some(id) = self.known.get(&whole) {
            return Ok(*id);
        }
        let key = content_index(&whole.0);
        if self.keys.as_ref().is_some_and(|keys| !keys.contains(&key)) {
            return self.add(tx, statements, key, content);
        }
        let id = match self.find(tx, statements, key, content)? {
            Some(id) => id,
            None => self.add(tx, statements, key, content)?,
        };
        if self.known.len() >= CACHE {
            self.known.clear();
        }
        self.known.insert(whole, id);
        Ok(id)
    }

    fn find(
        &self,
        tx: &Connection,
        statements: &mut ContentStatements<'_>,
        key: i64,
        content: &Content,
    ) -> rusqlite::Result<Option<i64>> {
        let recent = self.recent.iter().filter(|(recent, _)| *recent == key);
        let mut ids: Vec<i64> = recent.map(|(_, id)| *id).collect();
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
        statements: &mut ContentStatements<'_>,
        key: i64,
        content: &Content,
    ) -> rusqlite::Result<i64> {
        match content {
            Content::Text(text) => statements.add.execute(params![key, &**text])?,
            Content::Vector(_) => statements.add.execute(params![key, &*content.bytes()])?,
        };
        self.last = tx.last_insert_rowid();
        self.learn(key, self.last);
        Ok(self.last)
    }

    /// Adds the recent keys to the index once there are many; returns how many of its pages may
    /// have changed.
    pub(super) fn settle(&mut self, tx: &Connection) -> rusqlite::Result<u64> {
        if self.recent.len() < SETTLE {
            return Ok(0);
        }
        let changed = (self.indexed.unsigned_abs() / KEYS_A_PAGE + 8).min(self.recent.len() as u64);
        self.recent.sort_unstable();
        let mut add =
            tx.prepare_cached("INSERT OR FAIL INTO content_keys (key, id) VALUES (?1, ?2)")?;
        for (key, id) in &self.recent {
            add.execute([key, id])?;
        }
        tx.pragma_update(None, "user_version", self.last)?;
        self.recent.clear();
        self.indexed = self.last;
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::chain::content_key;

    /// Writers that take turns on one file; one of them joins late and one remembers no keys.
    #[test]
    fn a_text_is_stored_once_whichever_process_brings_it() {
        let db = Connection::open_in_memory().unwrap();
        super::super::schema::make(&db).unwrap();
        let blind = Contents { keys: None, ..Contents::default() };
        let mut writers = [Contents::default(), blind, Contents::default()];
        let mut statements = ContentStatements::new(&db).unwrap();
        let mut state = 1_u64;
        for turn in 0..60 {
            let here = if turn < 30 { 2 } else { 3 };
            let writer = &mut writers[turn % here];
            writer.catch_up(&db).unwrap();
            for _ in 0..400 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let content = Content::from(format!("text {}", (state >> 33) % 12_000));
                let key = content_key(&content);
                let id = writer.row(&db, &mut statements, &content, key).unwrap();
                let body = "SELECT body FROM contents WHERE id = ?1";
                let stored: String = db.query_row(body, [id], |r| r.get(0)).unwrap();
                assert_eq!(stored, content.text());
            }
            writer.settle(&db).unwrap();
        }
        let counts = "SELECT count(*), count(DISTINCT body),
            (SELECT count(*) FROM content_keys), (SELECT user_version FROM pragma_user_version)
            FROM contents";
        let counts: [i64; 4] =
            db.query_row(counts, [], |r| Ok([r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?])).unwrap();
        let [all, different, indexed, settled] = counts;
        assert!(all > 10_000 && all == different, "{counts:?}");
        assert!(indexed > 8000 && indexed == settled, "{counts:?}");
    }
}
