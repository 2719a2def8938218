//! Parsers by name and version.
//!
//! A [`ParserFamily`] is a parser in all its versions; [`Parsers`] are the families of a program.
//! They are passed to everything that reads recorded runs, because the program, not this crate,
//! decides which parsers exist.

use super::strategies::{AnyParser, ParserSpec};
use crate::prompt::CanonicalError;

/// Why a parser cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// This version does not exist.
    #[error("there is no version {0}")]
    NoVersion(u32),
    /// The settings have a different form from this parser's.
    #[error(transparent)]
    Settings(#[from] serde_json::Error),
    /// A setting has the right form, but a value that no answer could fit.
    #[error("{key}: {reason}")]
    Value {
        /// The setting.
        key: &'static str,
        /// The problem with its value.
        reason: String,
    },
    /// The settings cannot be written as canonical JSON, for example because of a number beyond
    /// 2^53.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

/// Why a parser is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// There is no parser with that name.
    #[error("there is no parser {name:?}; the parsers are {known}")]
    UnknownName {
        /// The name as given.
        name: String,
        /// The existing names.
        known: String,
    },
    /// The name exists, but not the version.
    #[error("parser {name:?} has no version {version}; it has {known}")]
    UnknownVersion {
        /// The parser's name.
        name: String,
        /// The version asked for.
        version: u32,
        /// The existing versions.
        known: String,
    },
    /// Not `name` or `name@version`.
    #[error("{0:?} is not a parser: write a name or name@version")]
    BadName(String),
    /// The parser cannot be created with these settings.
    #[error("the settings of parser {parser} cannot be used: {source}")]
    BadParams {
        /// `name@version`.
        parser: String,
        /// Whether any settings were given.
        given: bool,
        /// The problem.
        source: MakeError,
    },
    /// The family lists the version but creates another parser for it.
    #[error("parser {asked} is registered, but creates {made} instead")]
    WrongParser {
        /// The requested `name@version`.
        asked: String,
        /// The `name@version` that was created.
        made: String,
    },
}

/// A parser in all its versions, none of which is ever removed or changed.
///
/// A family is a `static`, and its identity is its address.
#[derive(Debug)]
pub struct ParserFamily {
    /// The parser's name.
    pub name: &'static str,
    /// Its versions, ascending.
    pub versions: &'static [u32],
    /// Creates a parser of one of these versions from its settings.
    pub make: fn(&ParserSpec) -> Result<Box<dyn AnyParser>, MakeError>,
}

impl ParserFamily {
    /// Creates the parser that a spec names.
    ///
    /// # Errors
    /// [`RegistryError`] for another parser, a version that does not exist, settings that cannot be
    /// used, or a version that is listed but creates another one.
    pub fn parser(&self, spec: &ParserSpec) -> Result<Box<dyn AnyParser>, RegistryError> {
        if spec.name != self.name {
            return Err(unknown(&spec.name, [self.name]));
        }
        self.version(spec.version)?;
        let made = (self.make)(spec).map_err(|source| RegistryError::BadParams {
            parser: spec.to_string(),
            given: !spec.params.is_null(),
            source,
        })?;
        // A decision names the version that made it, so a new version must never be an old one
        // under another name.
        if made.spec().name == spec.name && made.spec().version == spec.version {
            Ok(made)
        } else {
            Err(RegistryError::WrongParser {
                asked: spec.to_string(),
                made: made.spec().to_string(),
            })
        }
    }

    /// Parses `name@version`, or `name` for its latest version; returns the version.
    ///
    /// # Errors
    /// [`RegistryError`] for an invalid text, another parser, or a version that does not exist.
    pub fn resolve(&self, text: &str) -> Result<u32, RegistryError> {
        let (name, version) = name_and_version(text)?;
        if name == self.name {
            self.version_or_latest(version)
        } else {
            Err(unknown(name, [self.name]))
        }
    }

    fn version_or_latest(&self, version: Option<u32>) -> Result<u32, RegistryError> {
        let version = version.or_else(|| self.versions.last().copied());
        // A family without versions does not even have a first one.
        self.version(version.unwrap_or(1))
    }

    /// The version, if it exists.
    fn version(&self, version: u32) -> Result<u32, RegistryError> {
        if self.versions.contains(&version) {
            return Ok(version);
        }
        let known = self.versions.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        Err(RegistryError::UnknownVersion { name: self.name.to_owned(), version, known })
    }
}

fn unknown<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> RegistryError {
    let known = known.into_iter().collect::<Vec<_>>().join(", ");
    RegistryError::UnknownName { name: name.to_owned(), known }
}

/// `name@version`, or `name` alone.
fn name_and_version(text: &str) -> Result<(&str, Option<u32>), RegistryError> {
    let Some((name, version)) = text.split_once('@') else { return Ok((text, None)) };
    let version = version.parse().map_err(|_| RegistryError::BadName(text.to_owned()))?;
    Ok((name, Some(version)))
}

/// The parsers of a program, in the order in which they were registered.
#[derive(Debug, Clone, Default)]
pub struct Parsers(Vec<&'static ParserFamily>);

/// Two parsers with the same name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are two parsers {0:?}")]
pub struct TwoParsers(pub &'static str);

impl Parsers {
    /// Adds families. A family that is already present is not added again, because studies share
    /// parsers.
    ///
    /// # Errors
    /// [`TwoParsers`] if a different family has the name.
    pub fn add(&mut self, families: &[&'static ParserFamily]) -> Result<(), TwoParsers> {
        for &family in families {
            match self.0.iter().find(|known| known.name == family.name) {
                None => self.0.push(family),
                Some(known) if std::ptr::eq(*known, family) => {}
                Some(_) => return Err(TwoParsers(family.name)),
            }
        }
        Ok(())
    }

    /// The family with a name, if it exists.
    pub fn get(&self, name: &str) -> Option<&'static ParserFamily> {
        self.0.iter().find(|family| family.name == name).copied()
    }

    /// The family with a name.
    ///
    /// # Errors
    /// [`RegistryError::UnknownName`].
    pub fn family(&self, name: &str) -> Result<&'static ParserFamily, RegistryError> {
        self.get(name).ok_or_else(|| unknown(name, self.0.iter().map(|family| family.name)))
    }

    /// Creates the parser that a spec names.
    ///
    /// # Errors
    /// [`RegistryError`] for an unknown name or version, or settings that cannot be used.
    pub fn parser(&self, spec: &ParserSpec) -> Result<Box<dyn AnyParser>, RegistryError> {
        self.family(&spec.name)?.parser(spec)
    }

    /// The versions of a parser, ascending.
    ///
    /// # Errors
    /// [`RegistryError::UnknownName`].
    pub fn versions(&self, name: &str) -> Result<&'static [u32], RegistryError> {
        Ok(self.family(name)?.versions)
    }

    /// The families, in the order in which they were registered.
    pub fn families(&self) -> impl Iterator<Item = &'static ParserFamily> {
        self.0.iter().copied()
    }

    /// All `(name, version)` pairs.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u32)> {
        self.0
            .iter()
            .flat_map(|family| family.versions.iter().map(|version| (family.name, *version)))
    }

    /// Parses `name@version`, or `name` for its latest version.
    ///
    /// # Errors
    /// [`RegistryError`] for an invalid text, or an unknown name or version.
    pub fn resolve(&self, text: &str) -> Result<(&'static ParserFamily, u32), RegistryError> {
        let (name, version) = name_and_version(text)?;
        let family = self.family(name)?;
        Ok((family, family.version_or_latest(version)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::text::{FREE_TEXT, MODERATOR};

    static ANOTHER: ParserFamily = ParserFamily {
        name: "free_text",
        versions: &[7],
        make: |spec| Err(MakeError::NoVersion(spec.version)),
    };

    /// Lists a version 2 but creates version 1 for it.
    static UNFINISHED: ParserFamily = ParserFamily {
        name: "free_text",
        versions: &[1, 2],
        make: |_| Ok(Box::new(crate::parse::text::free_text::parser()?)),
    };

    #[test]
    fn a_family_is_there_once_and_none_takes_the_name_of_another() {
        let mut parsers = Parsers::default();
        parsers.add(&[&FREE_TEXT, &MODERATOR]).unwrap();
        parsers.add(&[&FREE_TEXT]).unwrap();
        assert_eq!(parsers.all().collect::<Vec<_>>(), [("free_text", 1), ("moderator", 1)]);
        assert_eq!(parsers.add(&[&ANOTHER]), Err(TwoParsers("free_text")));
    }

    #[test]
    fn a_version_that_there_is_not_is_never_another() {
        let spec = |version| ParserSpec {
            name: "free_text".into(),
            params: serde_json::Value::Null,
            version,
        };
        assert!(FREE_TEXT.parser(&spec(1)).is_ok());
        let missing = FREE_TEXT.parser(&spec(2)).err().unwrap();
        assert_eq!(missing.to_string(), "parser \"free_text\" has no version 2; it has 1");
        assert_eq!(FREE_TEXT.resolve("free_text").unwrap(), 1);
        assert!(UNFINISHED.parser(&spec(1)).is_ok());
        let other = UNFINISHED.parser(&spec(2)).err().unwrap();
        assert_eq!(
            other.to_string(),
            "parser free_text@2 is registered, but creates free_text@1 instead"
        );
        assert!(matches!(FREE_TEXT.resolve("moderator@1"), Err(RegistryError::UnknownName { .. })));
    }
}
