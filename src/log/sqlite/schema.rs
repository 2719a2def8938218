//! The format of a log file: public, so that any SQLite tool can read one.
//!
//! | table | a row is |
//! |---|---|
//! | `meta` | a fact about the file: its format, sealed by a hash |
//! | `run_ids` | a run: its number in this file, its id, when it started (ms since 1970) |
//! | `kinds` | an event kind and version |
//! | `contents` | a text (TEXT) or a vector (BLOB of little-endian 32-bit floats), kept once; `key` is the first 8 bytes of its BLAKE3 |
//! | `content_keys` | the key of a content, for those up to the file's `user_version`: added in bulk, in order |
//! | `requests` | a request, kept once: prompt hash, and canonical JSON whose long strings are `text:ID` into `contents` |
//! | `events` | an event; `id` is run number × 2^32 + seq, `time` is ms since the run started |
//!
//! The views `runs`, `exchanges`, `decisions` and `log` are the public, readable face of these tables.

use std::collections::BTreeSet;

use rusqlite::Connection;

/// `major.minor` of the log format.
///
/// - 1.0: the first.
///
/// A newer minor is readable (unknown kinds and columns are kept as they are), a newer major is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Raised when an older release could misread the file.
    pub major: u32,
    /// Raised when something is added.
    pub minor: u32,
}

/// The format this release writes.
pub const FORMAT: Format = Format { major: 1, minor: 0 };

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl std::str::FromStr for Format {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.split_once('.').ok_or(())?;
        let part = |text: &str| text.parse().map_err(|_| ());
        Ok(Format { major: part(major)?, minor: part(minor)? })
    }
}

/// Marks the file as ours in its header ("rtld").
pub(super) const APPLICATION_ID: i32 = 0x7274_6c64;

/// `meta` holds the hash of what it says, so that no bit of it can change unseen.
pub(super) fn seal(format: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"retold meta v1\n").update(format.as_bytes());
    hasher.finalize().to_string()
}

/// Tables, triggers and views of format 1.0.
///
/// CROSS JOIN keeps its left side outside: only of a decision is the content JSON, and a filter on it must
/// not meet the answers.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run_ids (no INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, started INTEGER NOT NULL);
CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL, UNIQUE (name, version));
CREATE TABLE contents (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, body NOT NULL);
CREATE TABLE content_keys (key INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (key, id)) WITHOUT ROWID;
CREATE TABLE requests (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, skeleton TEXT NOT NULL);
CREATE INDEX requests_by_hash ON requests (substr(hash, 1, 8));
CREATE TABLE events (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL, call TEXT, sample INTEGER,
  request INTEGER, cause INTEGER, content INTEGER, body TEXT, hash BLOB NOT NULL);

CREATE VIEW log AS
SELECT lower(hex(r.id)) AS run, e.id & 4294967295 AS seq, k.name AS kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + e.time) / 1000.0, 'unixepoch') AS time,
  e.call, e.sample, lower(hex(q.hash)) AS prompt_hash, e.cause, c.body AS content,
  coalesce(e.body, '{}') AS body, lower(hex(e.hash)) AS hash
FROM events e JOIN run_ids r ON r.no = e.id >> 32 JOIN kinds k ON k.id = e.kind
  LEFT JOIN requests q ON q.id = e.request LEFT JOIN contents c ON c.id = e.content;

CREATE VIEW runs AS
SELECT lower(hex(r.id)) AS run, json_extract(s.body, '$.experiment') AS experiment,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.started / 1000.0, 'unixepoch') AS started,
  json_extract(s.body, '$.seed') AS seed, json_extract(s.body, '$.model.kind') AS model_kind,
  json_extract(s.body, '$.model.simulated') AS simulated, c.body AS settings,
  l.id & 4294967295 AS events, json_extract(f.body, '$.outcome') AS outcome,
  json_extract(f.body, '$.outcome_digest') AS outcome_digest, lower(hex(l.hash)) AS head
FROM run_ids r JOIN events s ON s.id = (r.no << 32) + 1 LEFT JOIN contents c ON c.id = s.content
  JOIN events l ON l.id = (SELECT max(id) FROM events WHERE id < (r.no + 1) << 32)
  LEFT JOIN kinds fk ON fk.name = 'RunFinished' AND fk.version = 1
  LEFT JOIN events f ON f.id = l.id AND f.kind = fk.id;

CREATE VIEW exchanges AS
SELECT lower(hex(r.id)) AS run, a.id & 4294967295 AS seq, q.call, q.sample,
  lower(hex(p.hash)) AS prompt_hash, json_extract(p.skeleton, '$.body.model') AS model,
  coalesce(
    (SELECT group_concat(json_extract(m.value, '$.role') || ': ' || CASE
        WHEN json_type(m.value, '$.content') = 'array' THEN (
          SELECT group_concat(coalesce(t.body, json_extract(part.value, '$.text'), part.value), char(10))
          FROM json_each(m.value, '$.content') part LEFT JOIN contents t
            ON json_extract(part.value, '$.text') GLOB 'text:*' AND t.id = substr(json_extract(part.value, '$.text'), 6))
        WHEN json_extract(m.value, '$.content') GLOB 'text:*' THEN (
          SELECT t.body FROM contents t WHERE t.id = substr(json_extract(m.value, '$.content'), 6))
        ELSE coalesce(json_extract(m.value, '$.content'), '') END, char(10) || char(10))
      FROM json_each(p.skeleton, '$.body.messages') m),
    (SELECT t.body FROM contents t WHERE json_extract(p.skeleton, '$.body.input') GLOB 'text:*'
      AND t.id = substr(json_extract(p.skeleton, '$.body.input'), 6)),
    json_extract(p.skeleton, '$.body.input')) AS prompt,
  c.body AS answer, json_extract(a.body, '$.finish_reason') AS finish_reason,
  json_extract(a.body, '$.prompt_tokens') AS prompt_tokens,
  json_extract(a.body, '$.completion_tokens') AS completion_tokens,
  coalesce(json_extract(a.body, '$.latency_ms'), 0) AS latency_ms, k.name = 'AnswerReused' AS reused,
  strftime('%Y-%m-%dT%H:%M:%fZ', (r.started + a.time) / 1000.0, 'unixepoch') AS time
FROM events a JOIN kinds k ON k.id = a.kind AND k.name IN ('ResponseReceived', 'AnswerReused')
  JOIN run_ids r ON r.no = a.id >> 32
  JOIN events q ON q.id = (a.id >> 32 << 32) + a.cause JOIN requests p ON p.id = q.request
  JOIN contents c ON c.id = a.content;

CREATE VIEW decisions AS
SELECT lower(hex(r.id)) AS run, d.id & 4294967295 AS seq, q.call, q.sample,
  json_extract(s.body, '$.parser.name') AS parser, json_extract(s.body, '$.parser.version') AS parser_version,
  json_extract(s.body, '$.method') AS method, json_extract(d.body, '$.value') AS value,
  json_extract(d.body, '$.reasoning') AS reasoning, json_extract(d.body, '$.warnings') AS warnings,
  json_extract(s.body, '$.parser.params') AS params, c.body AS answer, d.cause AS answer_seq,
  lower(hex(p.hash)) AS prompt_hash
FROM events d CROSS JOIN kinds k ON k.id = d.kind AND k.name = 'DecisionMade'
  JOIN run_ids r ON r.no = d.id >> 32 CROSS JOIN contents s ON s.id = d.content
  JOIN events a ON a.id = (d.id >> 32 << 32) + d.cause JOIN contents c ON c.id = a.content
  JOIN events q ON q.id = (d.id >> 32 << 32) + a.cause JOIN requests p ON p.id = q.request;
"#;

/// The tables that nobody may change, with what makes a new row take the place of another: every
/// key that is unique, since REPLACE deletes by each of them and tells no trigger of it.
///
/// A row whose id SQLite is to give takes no other's place: there `NEW.id` is -1, and asking that
/// first spares most rows the look-up. A pair of `content_keys` is its whole row; it can only take
/// the place of itself.
pub(super) const TABLES: &[(&str, Option<&str>)] = &[
    ("meta", Some("EXISTS (SELECT 1 FROM meta WHERE name = NEW.name)")),
    ("run_ids", Some("EXISTS (SELECT 1 FROM run_ids WHERE no = NEW.no OR id = NEW.id)")),
    (
        "kinds",
        Some(
            "EXISTS (SELECT 1 FROM kinds
            WHERE id = NEW.id OR (name = NEW.name AND version = NEW.version))",
        ),
    ),
    ("contents", Some("NEW.id <> -1 AND EXISTS (SELECT 1 FROM contents WHERE id = NEW.id)")),
    ("content_keys", None),
    ("requests", Some("NEW.id <> -1 AND EXISTS (SELECT 1 FROM requests WHERE id = NEW.id)")),
    ("events", Some("NEW.id <> -1 AND EXISTS (SELECT 1 FROM events WHERE id = NEW.id)")),
];

/// The triggers that refuse change: UPDATE, DELETE, and the REPLACE that is both in disguise.
pub(super) fn triggers() -> Vec<(String, String)> {
    let of = |(table, replaces): &(&str, Option<&str>)| {
        let update = Some(("update", format!("BEFORE UPDATE ON {table}")));
        let delete = Some(("delete", format!("BEFORE DELETE ON {table}")));
        let replace = replaces.map(|it| ("replace", format!("BEFORE INSERT ON {table} WHEN {it}")));
        let trigger = |(action, when): (&str, String)| {
            let name = format!("{table}_no_{action}");
            let sql = format!(
                "CREATE TRIGGER {name} {when} BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END"
            );
            (name, sql)
        };
        [update, delete, replace].into_iter().flatten().map(trigger).collect::<Vec<_>>()
    };
    TABLES.iter().flat_map(of).collect()
}

/// Everything that makes up a log file of this format: `(type, name, sql)`.
pub(super) fn objects() -> rusqlite::Result<BTreeSet<(String, String, String)>> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(SCHEMA)?;
    for (_, sql) in triggers() {
        db.execute_batch(&sql)?;
    }
    objects_of(&db)
}

/// Everything that makes up a file: `(type, name, sql)`.
pub(super) fn objects_of(db: &Connection) -> rusqlite::Result<BTreeSet<(String, String, String)>> {
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut select = db.prepare(sql)?;
    let rows = select.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    rows.collect()
}
