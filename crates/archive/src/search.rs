//! Full-text search over prompts and answers.
//!
//! The index is a file of its own beside the log (`LOG-search`), or in the user's cache if that
//! cannot be written: the log itself stays as it is. It is contentless: it says which events have a
//! word, and their texts are in the log. It continues where it stopped; if the log is not the one
//! that was indexed, it is made again. Each text is indexed once in a run, at the first question or
//! answer that has it, so each turn of a dialogue of any length costs only its new texts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use retold::char_boundary::floor;
use retold::event::{Event, StoredEvent};
use retold::id::{EventHash, RunId, Seq};
use retold::log::{LogError, Reader};
use retold::prompt::hash_of;
use retold::sidecar;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, params};

/// Marks the file as ours in its header ("rtls").
const APPLICATION_ID: i32 = 0x7274_6c73;

/// Events in one transaction.
const BATCH: usize = 2048;

/// How long to wait for another process that is indexing.
const BUSY: Duration = Duration::from_secs(10);

/// The most events that a search finds.
const MOST_FOUND: i64 = 100_000;

const SCHEMA: &str = "
CREATE TABLE runs (no INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, seq INTEGER NOT NULL, hash BLOB NOT NULL);
CREATE TABLE seen (run INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (run, key)) WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5 (body, content='', tokenize='unicode61 remove_diacritics 2');
";

/// Why nothing can be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The index cannot be read or written.
    #[error("the index for searching cannot be used: {0}")]
    Index(#[from] rusqlite::Error),
    /// There is nothing in the text to search for.
    #[error("{0:?} has no word to search for")]
    NoWord(String),
}

/// Where an index is kept.
#[derive(Debug, Clone)]
pub enum IndexPlace {
    /// Beside a log, or else in this folder.
    Sidecar {
        /// The log.
        log: PathBuf,
        /// The user's cache, if there is one.
        cache: Option<PathBuf>,
    },
    /// In memory, for as long as it is open.
    Memory,
}

/// An index of the texts of a log.
pub struct Search(Connection);

impl Search {
    /// Opens an index, which is created if there is none that can be used.
    ///
    /// # Errors
    /// [`SearchError::Index`].
    pub fn open(place: &IndexPlace) -> Result<Self, SearchError> {
        if let IndexPlace::Sidecar { log, cache } = place {
            let whole = sidecar::canonical(log);
            let cached = cache.as_ref().map(|folder| in_cache(folder, &whole, "search"));
            // Links and files of others are refused.
            if sidecar::open(&whole, "-search").is_ok()
                && let Ok(search) = in_file(&sidecar::path(&whole, "-search"))
            {
                return Ok(search);
            }
            if let Some(cached) = cached
                && is_made(&cached)
                && let Ok(search) = in_file(&cached)
            {
                return Ok(search);
            }
        }
        let db = Connection::open_in_memory()?;
        db.execute_batch(SCHEMA)?;
        Ok(Search(db))
    }

    /// Indexes the events of a run that are not indexed yet; `each` is told how far it has come.
    ///
    /// # Errors
    /// [`SearchError`].
    pub fn read_on(
        &mut self,
        reader: &mut dyn Reader,
        run: RunId,
        mut each: impl FnMut(Seq),
    ) -> Result<(), SearchError> {
        let (no, mut at) = self.run(reader, run)?;
        let mut most = BATCH;
        'read: loop {
            let events = match reader.events(run, at, most) {
                Ok(events) => events,
                // What comes after damage is not searched.
                Err(error) if error.is_damage() => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let Some(last) = events.last() else { return Ok(()) };
            let write = self.0.transaction()?;
            for (good, stored) in events.iter().enumerate() {
                match add(&write, reader, no, stored) {
                    Ok(()) => {}
                    Err(SearchError::Log(error)) if error.is_damage() && good == 0 => return Ok(()),
                    Err(SearchError::Log(error)) if error.is_damage() => {
                        most = good;
                        continue 'read;
                    }
                    Err(error) => return Err(error),
                }
            }
            let end = "UPDATE runs SET seq = ?2, hash = ?3 WHERE no = ?1";
            write.execute(end, params![no, to_i64(last.seq), last.hash.as_bytes()])?;
            write.commit()?;
            at = last.seq;
            each(at);
        }
    }

    /// The number of a run in the index, and the last event that is indexed.
    fn run(&mut self, reader: &mut dyn Reader, run: RunId) -> Result<(i64, Seq), SearchError> {
        let find = "SELECT no, seq, hash FROM runs WHERE id = ?1";
        let row =
            |r: &rusqlite::Row<'_>| Ok((r.get(0)?, r.get::<_, i64>(1)?, EventHash(r.get(2)?)));
        let found = self.0.query_row(find, [run.as_bytes()], row).optional()?;
        if let Some((no, seq, hash)) = found {
            let seq = Seq(seq.unsigned_abs());
            let before = Seq(seq.0.saturating_sub(1));
            let same = seq == Seq(0)
                || reader.events(run, before, 1)?.first().is_some_and(|e| e.hash == hash);
            if same {
                return Ok((no, seq));
            }
            // Another log was here. A contentless index forgets nothing, so its number is not used
            // again.
            self.0.execute("DELETE FROM runs WHERE no = ?1", [no])?;
        }
        let add = "INSERT INTO runs (no, id, seq, hash)
            SELECT 1 + max(coalesce((SELECT max(no) FROM runs), 0), coalesce((SELECT max(rowid) FROM texts) >> 32, 0)),
              ?1, 0, zeroblob(32) RETURNING no";
        let no = self.0.query_row(add, [run.as_bytes()], |r| r.get(0))?;
        Ok((no, Seq(0)))
    }

    /// The questions and answers of a run that have all words of a text; words in quotes must follow
    /// each other. A question is found by the texts that none before it had.
    ///
    /// # Errors
    /// [`SearchError`].
    pub fn find(&self, run: RunId, text: &str) -> Result<BTreeSet<Seq>, SearchError> {
        let query = query_of(text).ok_or_else(|| SearchError::NoWord(text.to_owned()))?;
        let sql = "SELECT rowid & 4294967295 FROM texts WHERE texts MATCH ?1
            AND rowid > (SELECT no << 32 FROM runs WHERE id = ?2)
            AND rowid < (SELECT (no + 1) << 32 FROM runs WHERE id = ?2) LIMIT ?3";
        let mut select = self.0.prepare_cached(sql)?;
        let rows = select.query_map(params![query, run.as_bytes(), MOST_FOUND], |r| {
            Ok(Seq(r.get::<_, i64>(0)?.unsigned_abs()))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The words of a text, as they are searched: phrases in quotes stay together.
pub fn terms(text: &str) -> Vec<String> {
    // SQLite would take what follows a zero byte for the end of the query. Between words it is a space.
    let text = text.replace('\0', " ");
    let parts = text.split('"').enumerate();
    let terms = parts.flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.trim().to_owned()],
    });
    terms.filter(|term| term.chars().any(char::is_alphanumeric)).collect()
}

/// A text as a query in which nothing has a meaning of its own.
fn query_of(text: &str) -> Option<String> {
    let quoted: Vec<String> = terms(text).iter().map(|term| format!("\"{term}\"")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

fn to_i64(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// Adds the texts of an event that are new in its run.
fn add(
    write: &Connection,
    reader: &mut dyn Reader,
    no: i64,
    stored: &StoredEvent,
) -> Result<(), SearchError> {
    let mut new = String::new();
    let is_new = |text: &str, key: &[u8; 32]| -> rusqlite::Result<bool> {
        let key = key.get(..12).unwrap_or(&[]);
        let sql = "INSERT OR IGNORE INTO seen (run, key) VALUES (?1, ?2)";
        Ok(!text.is_empty() && write.prepare_cached(sql)?.execute(params![no, key])? == 1)
    };
    match stored.event() {
        Ok(Event::RequestSent(sent)) => {
            // A prompt that was asked before has nothing new.
            if !is_new("prompt", &sent.prompt.0)? {
                return Ok(());
            }
            let Some(request) = reader.request(sent.prompt)? else { return Ok(()) };
            for (_, text) in request.messages() {
                if is_new(&text, &hash_of(text.as_bytes()))? {
                    new.push_str(&text);
                    new.push('\n');
                }
            }
        }
        Ok(Event::ResponseReceived(received)) => new.push_str(received.content.text()),
        Ok(Event::AnswerReused(reused)) => new.push_str(reused.content.text()),
        _ => {}
    }
    if !new.is_empty() {
        let sql = "INSERT INTO texts (rowid, body) VALUES (?1, ?2)";
        let row = (no << 32) + to_i64(stored.seq);
        write.prepare_cached(sql)?.execute(params![row, new])?;
    }
    Ok(())
}

/// The file about a log in the user's cache.
pub(crate) fn in_cache(cache: &Path, log: &Path, extension: &str) -> PathBuf {
    let name = hash_of(log.as_os_str().as_encoded_bytes());
    let digits = name.iter().take(16).map(|byte| format!("{byte:02x}"));
    cache.join(format!("{}.{extension}", digits.collect::<String>()))
}

/// Whether there is a file in the user's cache, which is made if not.
fn is_made(file: &Path) -> bool {
    let Some(folder) = file.parent() else { return false };
    let made = std::fs::create_dir_all(folder).and_then(|()| {
        let mut options = std::fs::File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.write(true).create_new(true).open(file)
    });
    made.is_ok() || file.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Opens an index in a file, and makes it one if it is empty. A file that has anything else in it is
/// left alone.
fn in_file(file: &Path) -> Result<Search, rusqlite::Error> {
    let mut db = Connection::open(file)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.busy_timeout(BUSY)?;
    // It can be made again, so nothing waits for the disk.
    db.pragma_update(None, "synchronous", "OFF")?;
    let make = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    if schema(&make)?.is_empty() {
        make.pragma_update(None, "application_id", APPLICATION_ID)?;
        make.execute_batch(SCHEMA)?;
    }
    let id: i32 = make.pragma_query_value(None, "application_id", |r| r.get(0))?;
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(SCHEMA)?;
    if id != APPLICATION_ID || schema(&make)? != schema(&fresh)? {
        return Err(rusqlite::Error::InvalidQuery);
    }
    make.commit()?;
    Ok(Search(db))
}

/// The tables, indexes, views and triggers of a file: what those are that we make ourselves, and the
/// names of those that SQLite makes for them, which differ from release to release.
fn schema(db: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let sql =
        "SELECT type, name, iif(name IN ('runs', 'seen', 'texts'), sql, NULL) FROM sqlite_schema
        ORDER BY name";
    let mut select = db.prepare(sql)?;
    select.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?.collect()
}

/// The part of a text around the first of the words that were searched.
pub fn around<'a>(text: &'a str, terms: &[String], most: usize) -> &'a str {
    let lower = text.to_lowercase();
    // Lower case may be longer than the text; then the place is only near.
    let found = terms.iter().filter_map(|term| lower.find(&term.to_lowercase())).min();
    let begin = floor(text, found.unwrap_or(0).saturating_sub(most / 3));
    let end = floor(text, begin.saturating_add(most));
    text.get(begin..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_query_has_a_meaning_of_its_own() {
        assert_eq!(
            query_of("park OR body:x* NEAR(a)").unwrap(),
            "\"park\" \"OR\" \"body:x*\" \"NEAR(a)\""
        );
        assert_eq!(query_of("\"two words\" three").unwrap(), "\"two words\" \"three\"");
        assert_eq!([query_of(""), query_of("  * \" \"")], [None, None]);
        let search = Search::open(&IndexPlace::Memory).unwrap();
        for odd in ["\"", "a\"b", "x)(", "-y", "^z", "a\0b", "{col}:q", "*", "\u{202e}word"] {
            if let Err(error) = search.find(RunId([1; 8]), odd) {
                assert!(matches!(error, SearchError::NoWord(_)), "{odd:?}: {error}");
            }
        }
    }

    #[test]
    fn an_excerpt_is_around_the_word() {
        let text = format!("{} Park {}", "a ".repeat(500), "b ".repeat(500));
        let shown = around(&text, &["park".to_owned()], 90);
        assert!(shown.contains("Park") && shown.len() <= 90, "{shown}");
        assert_eq!(around("ä", &["x".to_owned()], 1), "");
    }
}
