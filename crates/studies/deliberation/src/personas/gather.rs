//! Collects enriched personas from other files: original output folders and pools.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::pool::{EnrichedPersona, NotAPersona, PoolError};
use retold::encoding::read_text;
use retold::escaping::printable;
use retold::explain::explain;
use retold::run::SIMULATED_MARK;

/// The enriched personas of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonaCollection {
    /// The file.
    pub file: PathBuf,
    /// Its personas, in order.
    pub personas: Vec<EnrichedPersona>,
    /// Entries that are not personas: which (by line or id), and why.
    pub bad: Vec<(String, String)>,
}

/// Reads an output folder (its `participants.json`), a file with that structure or a pool's, or a
/// `.jsonl` file with one persona per line. Entries that are not enriched personas are left out and
/// reported.
///
/// # Errors
/// [`PoolError`] if the file does not exist or is of another kind.
pub fn gather(path: &Path) -> Result<PersonaCollection, PoolError> {
    let file = if path.is_dir() { path.join("participants.json") } else { path.to_owned() };
    let shown = file.display().to_string();
    let text = read_text(&file)
        .map_err(|e| PoolError::Unreadable { path: shown.clone(), reason: e.to_string() })?;
    let wrong =
        |reason: &str| PoolError::NotAPool { path: shown.clone(), reason: printable(reason, 200) };
    let entries = if file.extension().is_some_and(|ending| ending == "jsonl") {
        lines(&text)
    } else {
        let whole: Value = serde_json::from_str(&text).map_err(|e| wrong(&e.to_string()))?;
        let list = ["participants", "personas"].iter().find_map(|key| whole[key].as_array());
        let none = "it has no list \"participants\" or \"personas\"";
        let list = list.ok_or_else(|| wrong(none))?;
        (1..).zip(list).map(|(number, value)| entry(number, value)).collect()
    };
    // An output folder's files have no field for whether a program made up its personas.
    let made_up = file.with_file_name(SIMULATED_MARK).exists();
    let mut gathered = PersonaCollection { file, ..PersonaCollection::default() };
    for (name, entry) in entries {
        match entry.and_then(|entry| EnrichedPersona::read(&entry)) {
            Ok(persona) => {
                let simulated = persona.simulated || made_up;
                gathered.personas.push(EnrichedPersona { simulated, ..persona });
            }
            Err(e) => gathered.bad.push((name, e.to_string())),
        }
    }
    Ok(gathered)
}

/// A name for reporting it, and what may be a persona.
type Entry = (String, Result<Value, NotAPersona>);

fn entry(number: u64, entry: &Value) -> Entry {
    let name = match entry.get("participant_id").and_then(Value::as_str) {
        Some(id) => printable(id, 40),
        None => format!("entry {number}"),
    };
    (name, Ok(entry.clone()))
}

fn lines(text: &str) -> Vec<Entry> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let entry = |(number, line): (u64, &str)| {
        let entry = serde_json::from_str(line).map_err(|e| {
            // serde counts lines within this single line, so the number would always be 1.
            let message = e.to_string();
            let message = message.split(" at line ").next().unwrap_or("");
            NotAPersona::NotJson(printable(&explain(message), 200))
        });
        (format!("line {number}"), entry)
    };
    lines.map(entry).collect()
}
