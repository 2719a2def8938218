//! Reading and drawing base personas.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::grammar::built_in;
use super::language::is_english;
use crate::experiments::random::shuffle;
use crate::run::rng_for;

/// Why there are no personas.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PersonaError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// Fewer than are needed.
    #[error(
        "{path}: {needed} personas are needed and it has {english} different ones in English \
         ({other} in other languages, {malformed} malformed lines{first})"
    )]
    TooFew {
        /// The file, or `the built-in set`.
        path: String,
        /// How many are needed.
        needed: usize,
        /// How many there are.
        english: usize,
        /// Left out for their language.
        other: usize,
        /// Lines that hold no persona.
        malformed: usize,
        /// The first malformed lines, in words.
        first: String,
    },
}

/// The personas of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonaFile {
    /// English, each once, in the order of the file.
    pub english: Vec<String>,
    /// How many are in other languages.
    pub other: usize,
    /// The lines that hold no persona, from 1.
    pub malformed: Vec<usize>,
}

/// The personas of a text: a JSON object a line with `persona` or `input persona` (persona-hub's
/// formats), or plain text a line.
pub fn read(text: &str) -> PersonaFile {
    let (mut file, mut seen) = (PersonaFile::default(), BTreeSet::new());
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    for (number, line) in lines {
        let Some(persona) = persona(line.trim()) else {
            file.malformed.push(number);
            continue;
        };
        if !is_english(&persona) {
            file.other += 1;
        } else if seen.insert(persona.clone()) {
            file.english.push(persona);
        }
    }
    file
}

fn persona(line: &str) -> Option<String> {
    if !line.starts_with(['{', '[', '"']) {
        return Some(line.to_owned());
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let text = value.get("persona").or_else(|| value.get("input persona")).unwrap_or(&value);
    text.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Draws `n` different personas by seed, from a file or else the built-in set.
///
/// # Errors
/// [`PersonaError`]: no such file, or too few in it.
pub fn draw(file: Option<&Path>, n: usize, seed: u64) -> Result<Vec<String>, PersonaError> {
    let (path, personas) = match file {
        None => (
            "the built-in set".to_owned(),
            PersonaFile { english: built_in(), ..PersonaFile::default() },
        ),
        Some(file) => {
            let path = file.display().to_string();
            let text = std::fs::read_to_string(file).map_err(|e| PersonaError::Unreadable {
                path: path.clone(),
                reason: e.to_string(),
            })?;
            (path, read(&text))
        }
    };
    let PersonaFile { mut english, other, malformed } = personas;
    if english.len() < n {
        let shown: Vec<String> = malformed.iter().take(5).map(usize::to_string).collect();
        let first = match shown.is_empty() {
            true => String::new(),
            false => format!(", the first at line {}", shown.join(", ")),
        };
        let (english, malformed) = (english.len(), malformed.len());
        return Err(PersonaError::TooFew { path, needed: n, english, other, malformed, first });
    }
    if !malformed.is_empty() {
        tracing::warn!("{path}: {} malformed lines are left out: {malformed:?}", malformed.len());
    }
    shuffle(&mut english, &mut rng_for(seed, "personas"));
    english.truncate(n);
    Ok(english)
}
