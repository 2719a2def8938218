//! The pool: enriched personas that outlive a run, in one JSON file with the source document's
//! structure (`{"personas": [{"base_persona", "demographics", "enriched_persona"}, ...]}`).
//!
//! The file is replaced as a whole, under a lock on a file next to it, so that readers never see
//! half of it and concurrent writers lose nothing. Nothing is ever removed. A persona made up by a
//! program is marked (`"simulated": true`), and only simulated runs draw it.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::parse::{Demographics, OutOfRange, from_object};
use retold::encoding::read_text;
use retold::escaping::printable;

/// The document's path for the pool, relative to the working directory.
pub const DEFAULT: &str = "data/personas.json";

/// A persona, with everything that prompts say about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrichedPersona {
    /// As drawn from a collection.
    pub base_persona: String,
    /// From a model's answer, with all values in range.
    pub demographics: Demographics,
    /// The description at the beginning of all prompts.
    pub enriched_persona: String,
    /// Whether the simulated model made it up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// Why a pool cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's error message.
        reason: String,
    },
    /// The file, its lock or its folder cannot be written.
    #[error("cannot write {path}: {reason}")]
    Unwritable {
        /// The path.
        path: String,
        /// The system's error message.
        reason: String,
    },
    /// The file is not a pool.
    #[error("{path}: {reason}")]
    NotAPool {
        /// The file.
        path: String,
        /// The problem, with the line or the entry.
        reason: String,
    },
}

/// Why an entry does not hold an enriched persona.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAPersona {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// A text is missing.
    #[error("{0:?} is not a text")]
    NoText(&'static str),
    /// The demographics are missing.
    #[error("\"demographics\" is not a JSON object")]
    NoDemographics,
    /// They are not those of anybody who could take part.
    #[error(transparent)]
    Demographics(#[from] OutOfRange),
}

/// A pool as its file has it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pool {
    /// The whole file: fields that this program does not know are kept.
    file: Map<String, Value>,
    /// Its personas, in the order of the file.
    pub personas: Vec<EnrichedPersona>,
}

/// The result of adding personas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddedPersonas {
    /// How many are new in the pool.
    pub added: usize,
    /// How many were already there: the same base persona, made up or not.
    pub known: usize,
}

impl EnrichedPersona {
    /// A persona from a JSON object, such as an entry of a pool or of an original
    /// `participants.json`; other fields are ignored.
    ///
    /// # Errors
    /// [`NotAPersona`]: the field that is missing or out of range.
    pub fn read(value: &Value) -> Result<EnrichedPersona, NotAPersona> {
        let text = |key: &'static str| match value.get(key).and_then(Value::as_str).map(str::trim) {
            None | Some("") => Err(NotAPersona::NoText(key)),
            Some(text) => Ok(text.to_owned()),
        };
        let demographics = value.get("demographics").and_then(Value::as_object);
        Ok(EnrichedPersona {
            base_persona: text("base_persona")?,
            demographics: from_object(demographics.ok_or(NotAPersona::NoDemographics)?)?,
            enriched_persona: text("enriched_persona")?,
            simulated: value.get("simulated") == Some(&Value::Bool(true)),
        })
    }

    /// What must be unique in a pool.
    fn key(&self) -> (String, bool) {
        (self.base_persona.clone(), self.simulated)
    }
}

impl Pool {
    /// Reads a pool; a missing file is an empty pool.
    ///
    /// # Errors
    /// [`PoolError`] if it cannot be read or has an entry that is not a persona.
    pub fn read(path: &Path) -> Result<Pool, PoolError> {
        let shown = || path.display().to_string();
        let text = match read_text(path) {
            Ok(text) => text,
            Err(e) if e.is_missing() => return Ok(Pool::default()),
            Err(e) => return Err(PoolError::Unreadable { path: shown(), reason: e.to_string() }),
        };
        let wrong = |reason: String| PoolError::NotAPool { path: shown(), reason };
        let file: Map<String, Value> =
            serde_json::from_str(&text).map_err(|e| wrong(printable(&e.to_string(), 200)))?;
        let entries = file.get("personas").and_then(Value::as_array);
        let entries = entries.ok_or_else(|| wrong("it has no list \"personas\"".to_owned()))?;
        let personas = (1..).zip(entries).map(|(number, entry)| {
            EnrichedPersona::read(entry).map_err(|e| wrong(format!("persona {number} of it: {e}")))
        });
        Ok(Pool { personas: personas.collect::<Result<_, _>>()?, file })
    }

    /// Adds the personas that are not there yet.
    fn add(&mut self, new: &[EnrichedPersona]) -> AddedPersonas {
        let mut known: BTreeSet<(String, bool)> =
            self.personas.iter().map(EnrichedPersona::key).collect();
        let mut added = AddedPersonas::default();
        for persona in new {
            if !known.insert(persona.key()) {
                added.known += 1;
                continue;
            }
            added.added += 1;
            self.personas.push(persona.clone());
            let list = self.file.entry("personas").or_insert_with(|| Value::Array(Vec::new()));
            // A persona of texts and numbers can always be written as JSON, and the list exists.
            if let (Value::Array(list), Ok(persona)) = (list, serde_json::to_value(persona)) {
                list.push(persona);
            }
        }
        added
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        // Always the same name, so that a file left by a killed process is replaced: the writer
        // holds the lock.
        let part = beside(path, ".part");
        let _ = std::fs::remove_file(&part);
        // Never follows a link that was put there meanwhile.
        let mut file = File::create_new(&part)?;
        let text = serde_json::to_string_pretty(&self.file)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    }
}

/// Adds personas to a pool's file, which is created if it does not exist; existing personas are not
/// changed. Other processes may do the same at the same time.
///
/// # Errors
/// [`PoolError`]; the file is then unchanged.
pub fn add(path: &Path, new: &[EnrichedPersona]) -> Result<AddedPersonas, PoolError> {
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
    // Held until it is dropped, for one read and one write.
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
