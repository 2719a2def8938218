//! Reads and draws base personas.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::grammar::built_in;
use super::language::is_english;
use retold::encoding::read_text;
use retold::fetch::{FetchError, FetchLimits, PublicUrl, PublicUrlError, fetch};
use retold::run::{rng_for, shuffle};
use retold_study::REMARKS;

/// Why there are no personas.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PersonaError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's error message.
        reason: String,
    },
    /// The URL is none from which personas can come.
    #[error(transparent)]
    Url(#[from] PublicUrlError),
    /// The URL cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// There are fewer than needed.
    #[error(
        "{path}: {needed} personas are needed and it has {english} different ones in English \
         ({other} in other languages, {malformed})"
    )]
    TooFew {
        /// The file, or `the built-in set`.
        path: String,
        /// How many are needed.
        needed: usize,
        /// How many there are in English.
        english: usize,
        /// How many were left out because of their language.
        other: usize,
        /// How many lines are malformed, and which, as text.
        malformed: String,
    },
}

/// The personas of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonaFile {
    /// English ones, without duplicates, in the order of the file.
    pub english: Vec<String>,
    /// The number in other languages.
    pub other: usize,
    /// The lines without a persona, from 1.
    pub malformed: Vec<usize>,
}

impl PersonaFile {
    /// The malformed lines as text: `line 7`, `lines 2, 7, 9 and 12 more`.
    fn malformed_lines(&self) -> String {
        const NAMED: usize = 20;
        let shown: Vec<String> = self.malformed.iter().take(NAMED).map(usize::to_string).collect();
        let line = if shown.len() == 1 { "line" } else { "lines" };
        let more = match self.malformed.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{line} {}{more}", shown.join(", "))
    }
}

/// The personas in a text: one JSON object per line, with `persona` or `input persona`
/// (persona-hub's formats), or one plain text per line. The first line determines the format.
pub fn read(text: &str) -> PersonaFile {
    let (mut file, mut seen) = (PersonaFile::default(), BTreeSet::new());
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let is_json = first.is_some_and(|line| line.starts_with(JSON));
    for (number, line) in lines {
        let Some(persona) = persona(line.trim(), is_json) else {
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

/// How a line of JSON can begin.
const JSON: [char; 3] = ['{', '[', '"'];

fn persona(line: &str, is_json: bool) -> Option<String> {
    if !is_json && !line.starts_with(JSON) {
        return Some(line.to_owned());
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let text = value.get("persona").or_else(|| value.get("input persona")).unwrap_or(&value);
    text.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Base personas to draw from, and their source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// The file, the URL, or `the built-in set`.
    pub name: String,
    /// Its personas.
    pub found: PersonaFile,
}

impl Collection {
    /// The built-in set.
    pub fn built_in() -> Self {
        let found = PersonaFile { english: built_in(), ..PersonaFile::default() };
        Collection { name: "the built-in set".to_owned(), found }
    }

    /// A file.
    ///
    /// # Errors
    /// [`PersonaError::Unreadable`].
    pub fn file(path: &Path) -> Result<Self, PersonaError> {
        let name = path.display().to_string();
        match read_text(path) {
            Ok(text) => Ok(Collection { found: read(&text), name }),
            Err(e) => Err(PersonaError::Unreadable { path: name, reason: e.to_string() }),
        }
    }

    /// The personas at a URL. Waits for them.
    ///
    /// # Errors
    /// [`PersonaError::Fetch`].
    pub fn url(url: &PublicUrl, limits: FetchLimits) -> Result<Self, PersonaError> {
        let text = String::from_utf8(fetch(url, None, limits)?)
            .map_err(|_| FetchError::new(url, "it is not UTF-8"))?;
        Ok(Collection { name: url.to_string(), found: read(&text) })
    }

    /// Reports how many lines are malformed, and which.
    #[must_use]
    pub fn warn(self) -> Self {
        if !self.found.malformed.is_empty() {
            let (name, lines) = (&self.name, self.found.malformed_lines());
            tracing::warn!(target: REMARKS, "{name}: {} malformed ({lines}), left out", self.found.malformed.len());
        }
        self
    }

    /// Draws `n` different personas by seed.
    ///
    /// # Errors
    /// [`PersonaError::TooFew`].
    pub fn draw(self, n: usize, seed: u64) -> Result<Vec<String>, PersonaError> {
        self.draw_besides(n, seed, &BTreeSet::new())
    }

    /// Draws `n` different personas by seed, excluding those that are already known.
    ///
    /// # Errors
    /// [`PersonaError::TooFew`].
    pub fn draw_besides(
        self,
        n: usize,
        seed: u64,
        known: &BTreeSet<String>,
    ) -> Result<Vec<String>, PersonaError> {
        let malformed = match self.found.malformed.len() {
            0 => "no malformed lines".to_owned(),
            n => format!("{n} malformed: {}", self.found.malformed_lines()),
        };
        let Collection { name: path, found: PersonaFile { mut english, other, .. } } = self;
        english.retain(|persona| !known.contains(persona));
        if english.len() < n {
            let english = english.len();
            return Err(PersonaError::TooFew { path, needed: n, english, other, malformed });
        }
        shuffle(&mut english, &mut rng_for(seed, "personas"));
        english.truncate(n);
        Ok(english)
    }
}
