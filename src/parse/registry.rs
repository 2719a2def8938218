//! Every parser version this program knows, by name.

use super::chain::{AnyParser, ParserSpec};
use super::text::{free_text, moderator, vector};
use super::{adventure, demographics, game24, public_goods, society, vote};

/// Why a parser cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No parser of that name.
    #[error("there is no parser {name:?}; the parsers are {known}")]
    UnknownName {
        /// The name as given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The name is known, the version is not.
    #[error("parser {name:?} has no version {version}; it has {known}")]
    UnknownVersion {
        /// The parser's name.
        name: String,
        /// The version asked for.
        version: u32,
        /// The versions there are.
        known: String,
    },
    /// Not `name` or `name@version`.
    #[error("{0:?} is not a parser: write a name, or name@version")]
    BadName(String),
    /// The settings do not fit the parser.
    #[error("the settings of parser {parser} do not fit: {reason}")]
    BadParams {
        /// `name@version`.
        parser: String,
        /// What is wrong.
        reason: String,
    },
}

type Make = fn(&ParserSpec) -> Result<Box<dyn AnyParser>, String>;

/// One parser version: name, version, and how to make it from settings.
struct Entry {
    name: &'static str,
    version: u32,
    make: Make,
}

const ENTRIES: &[Entry] = &[
    Entry { name: "game24", version: 1, make: |spec| game24::from_params(1, &spec.params) },
    Entry { name: "game24", version: 2, make: |spec| game24::from_params(2, &spec.params) },
    Entry { name: "game24", version: 3, make: |spec| game24::from_params(3, &spec.params) },
    Entry { name: "vote", version: 1, make: |spec| vote::from_params(&spec.params) },
    Entry {
        name: "demographics",
        version: 1,
        make: |spec| demographics::from_params(&spec.params),
    },
    Entry { name: "free_text", version: 1, make: |spec| free_text::from_params(&spec.params) },
    Entry { name: "moderator", version: 1, make: |spec| moderator::from_params(&spec.params) },
    Entry { name: "vector", version: 1, make: |spec| vector::from_params(&spec.params) },
    Entry { name: "contribution", version: 1, make: public_goods },
    Entry { name: "contribution", version: 2, make: public_goods },
    Entry { name: "contribution", version: 3, make: public_goods },
    Entry { name: "contribution_json", version: 1, make: public_goods },
    Entry { name: "contribution_json", version: 2, make: public_goods },
    Entry { name: "chat", version: 1, make: public_goods },
    Entry { name: "chat", version: 2, make: public_goods },
    Entry { name: "redistribution", version: 1, make: public_goods },
    Entry { name: "redistribution", version: 2, make: public_goods },
    Entry { name: "redistribution", version: 3, make: public_goods },
    Entry { name: "actions_json", version: 1, make: public_goods },
    Entry { name: "actions_json", version: 2, make: public_goods },
    Entry { name: "action", version: 1, make: |spec| society::from_params(1, &spec.params) },
    Entry { name: "action", version: 2, make: |spec| society::from_params(2, &spec.params) },
    Entry { name: "action", version: 3, make: |spec| society::from_params(3, &spec.params) },
    Entry { name: "narrative", version: 1, make: adventure },
    Entry { name: "narrative", version: 2, make: adventure },
    Entry { name: "character", version: 1, make: adventure },
    Entry { name: "character", version: 2, make: adventure },
];

fn adventure(spec: &ParserSpec) -> Result<Box<dyn AnyParser>, String> {
    adventure::from_params(&spec.name, spec.version, &spec.params)
}

fn public_goods(spec: &ParserSpec) -> Result<Box<dyn AnyParser>, String> {
    public_goods::from_params(&spec.name, spec.version, &spec.params)
}

/// Makes the parser a spec names.
///
/// # Errors
/// [`RegistryError`]: unknown name or version, or settings that do not fit.
pub fn parser(spec: &ParserSpec) -> Result<Box<dyn AnyParser>, RegistryError> {
    let versions = versions(&spec.name)?;
    let entry = ENTRIES.iter().find(|e| e.name == spec.name && e.version == spec.version);
    let entry = entry.ok_or_else(|| RegistryError::UnknownVersion {
        name: spec.name.to_string(),
        version: spec.version,
        known: versions.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    })?;
    (entry.make)(spec)
        .map_err(|reason| RegistryError::BadParams { parser: spec.to_string(), reason })
}

/// The versions of a parser, ascending.
///
/// # Errors
/// [`RegistryError::UnknownName`].
pub fn versions(name: &str) -> Result<Vec<u32>, RegistryError> {
    let versions: Vec<u32> = ENTRIES.iter().filter(|e| e.name == name).map(|e| e.version).collect();
    if versions.is_empty() {
        let mut known: Vec<&str> = ENTRIES.iter().map(|e| e.name).collect();
        known.dedup();
        return Err(RegistryError::UnknownName { name: name.to_owned(), known: known.join(", ") });
    }
    Ok(versions)
}

/// Every `(name, version)` there is.
pub fn all() -> impl Iterator<Item = (&'static str, u32)> {
    ENTRIES.iter().map(|e| (e.name, e.version))
}

/// Reads `name@version`, or `name` for its latest version.
///
/// # Errors
/// [`RegistryError`]: not such a text, or unknown.
pub fn resolve(text: &str) -> Result<(&'static str, u32), RegistryError> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => {
            let version = version.parse().map_err(|_| RegistryError::BadName(text.to_owned()))?;
            (name, Some(version))
        }
        None => (text, None),
    };
    let known = versions(name)?;
    let version = version.unwrap_or_else(|| known.last().copied().unwrap_or_default());
    let entry = ENTRIES.iter().find(|e| e.name == name && e.version == version);
    entry.map(|e| (e.name, e.version)).ok_or_else(|| RegistryError::UnknownVersion {
        name: name.to_owned(),
        version,
        known: known.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    })
}
