//! The pool: enriched personas that outlive a run, in one JSON file of the source document's shape
//! (`{"personas": [{"base_persona", "demographics", "enriched_persona"}, ...]}`).
//!
//! The file is replaced whole, under a lock on a file beside it, so that a reader never sees half of
//! it and two writers at once lose nothing. Nothing is ever taken out. A persona that a program made
//! up says so (`"simulated": true`), and only simulated runs draw it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::parse::{Demographics, from_object};
use retold::encoding::read_text;
use retold::inert::inert;

/// Where the document keeps the pool, from the working directory.
pub const DEFAULT: &str = "data/personas.json";

/// A persona with all that prompts say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enriched {
    /// As drawn from a collection.
    pub base_persona: String,
    /// As a model put them, in range.
    pub demographics: Demographics,
    /// The description that all prompts begin with.
    pub enriched_persona: String,
    /// Whether the simulated model made it up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// Why a pool cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The file, its lock or its folder cannot be written.
    #[error("cannot write {path}: {reason}")]
    Unwritable {
        /// Which.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The file is no pool.
    #[error("{path}: {reason}")]
    NotAPool {
        /// The file.
        path: String,
        /// What is wrong, with the line or the entry.
        reason: String,
    },
}

/// A pool as its file holds it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pool {
    /// The file whole: what this program does not know in it is kept.
    file: Map<String, Value>,
    /// Its personas, in the order of the file.
    pub personas: Vec<Enriched>,
}

/// What became of personas that were to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Added {
    /// New in the pool.
    pub added: usize,
    /// There already: the same base persona, made up or not.
    pub known: usize,
}

impl Enriched {
    /// A persona of a JSON object, such as one of a pool or an original `participants.json`; other
    /// fields do not matter.
    ///
    /// # Errors
    /// What is missing or out of range.
    pub fn read(value: &Value) -> Result<Enriched, String> {
        let text = |key: &str| match value.get(key).and_then(Value::as_str).map(str::trim) {
            None | Some("") => Err(format!("{key:?} is no text")),
            Some(text) => Ok(text.to_owned()),
        };
        let demographics = value.get("demographics").and_then(Value::as_object);
        Ok(Enriched {
            base_persona: text("base_persona")?,
            demographics: from_object(demographics.ok_or("\"demographics\" is no JSON object")?)?,
            enriched_persona: text("enriched_persona")?,
            simulated: value.get("simulated") == Some(&Value::Bool(true)),
        })
    }

    /// What two entries of a pool must not share.
    fn key(&self) -> (String, bool) {
        (self.base_persona.clone(), self.simulated)
    }
}

impl Pool {
    /// Reads a pool; a file that is not there is an empty one.
    ///
    /// # Errors
    /// [`PoolError`]: unreadable, or with an entry that is no persona.
    pub fn read(path: &Path) -> Result<Pool, PoolError> {
        let shown = || path.display().to_string();
        let text = match read_text(path) {
            Ok(text) => text,
            Err(e) if e.is_missing() => return Ok(Pool::default()),
            Err(e) => return Err(PoolError::Unreadable { path: shown(), reason: e.to_string() }),
        };
        let wrong = |reason: String| PoolError::NotAPool { path: shown(), reason };
        let file: Map<String, Value> =
            serde_json::from_str(&text).map_err(|e| wrong(inert(&e.to_string(), 200)))?;
        let entries = file.get("personas").and_then(Value::as_array);
        let entries = entries.ok_or_else(|| wrong("it has no list \"personas\"".to_owned()))?;
        let personas = (1..).zip(entries).map(|(number, entry)| {
            Enriched::read(entry).map_err(|e| wrong(format!("persona {number} of it: {e}")))
        });
        Ok(Pool { personas: personas.collect::<Result<_, _>>()?, file })
    }

    /// Takes in the personas that are not there yet.
    fn add(&mut self, new: &[Enriched]) -> Added {
        let mut known: BTreeSet<(String, bool)> = self.personas.iter().map(Enriched::key).collect();
        let mut added = Added::default();
        for persona in new {
            if !known.insert(persona.key()) {
                added.known += 1;
                continue;
            }
            added.added += 1;
            self.personas.push(persona.clone());
            let list = self.file.entry("personas").or_insert_with(|| Value::Array(Vec::new()));
            // A persona of texts and numbers always has a JSON form, and the list is one.
            if let (Value::Array(list), Ok(persona)) = (list, serde_json::to_value(persona)) {
                list.push(persona);
            }
        }
        added
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        // One name, so that what a killed process left is replaced: the writer holds the lock.
        let part = beside(path, ".part");
        let _ = std::fs::remove_file(&part);
        // Never through a link that was put there meanwhile.
        let mut file = File::create_new(&part)?;
        let text = serde_json::to_string_pretty(&self.file)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    }
}

/// Adds personas to the pool of a file, which is made if it is not there; a persona that is there
/// already changes nothing. Other processes may do the same at the same time.
///
/// # Errors
/// [`PoolError`]; the file is then as it was.
pub fn add(path: &Path, new: &[Enriched]) -> Result<Added, PoolError> {
    let failed = |path: &Path, e: &std::io::Error| PoolError::Unwritable {
        path: path.display().to_string(),
        reason: e.to_string(),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| failed(folder, &e))?;
    }
    let lock_path = beside(path, ".lock");
    let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&lock_path);
    let lock = lock.map_err(|e| failed(&lock_path, &e))?;
    // Until the lock is dropped. It is held for one read and one write.
    lock.lock().map_err(|e| failed(&lock_path, &e))?;
    let mut pool = Pool::read(path)?;
    let added = pool.add(new);
    if added.added > 0 {
        pool.write(path).map_err(|e| failed(path, &e))?;
    }
    Ok(added)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
