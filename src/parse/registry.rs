//! Parsers by name and version.
//!
//! A [`ParserFamily`] is a parser in all its versions, [`Parsers`] are the families that a program has. They are
//! handed to whatever reads recorded runs: which parsers there are is up to the program, not to this crate.

use super::chain::{AnyParser, ParserSpec};

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

/// A parser in all its versions, of which none is ever taken away or changed.
///
/// A family is a `static`: what makes it one family is that there is one.
#[derive(Debug)]
pub struct ParserFamily {
    /// The parser's name.
    pub name: &'static str,
    /// Its versions, ascending.
    pub versions: &'static [u32],
    /// Makes a parser of one of these versions from its settings, or says what is wrong with them.
    pub make: fn(&ParserSpec) -> Result<Box<dyn AnyParser>, String>,
}

impl ParserFamily {
    /// Makes the parser that a spec names.
    ///
    /// # Errors
    /// [`RegistryError`]: another parser, a version that there is not, or settings that do not fit.
    pub fn parser(&self, spec: &ParserSpec) -> Result<Box<dyn AnyParser>, RegistryError> {
        if spec.name != self.name {
            return Err(unknown(&spec.name, [self.name]));
        }
        self.version(spec.version)?;
        (self.make)(spec)
            .map_err(|reason| RegistryError::BadParams { parser: spec.to_string(), reason })
    }

    /// Reads `name@version`, or `name` for its latest version; gives the version.
    ///
    /// # Errors
    /// [`RegistryError`]: not such a text, another parser, or a version that there is not.
    pub fn resolve(&self, text: &str) -> Result<u32, RegistryError> {
        let (name, version) = name_and_version(text)?;
        match name == self.name {
            true => self.version_or_latest(version),
            false => Err(unknown(name, [self.name])),
        }
    }

    fn version_or_latest(&self, version: Option<u32>) -> Result<u32, RegistryError> {
        let version = version.or_else(|| self.versions.last().copied());
        // A family without a version has not even a first one.
        self.version(version.unwrap_or(1))
    }

    /// A version, if there is such a one.
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

/// Two parsers of one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are two parsers {0:?}")]
pub struct TwoParsers(pub &'static str);

impl Parsers {
    /// Adds families. One that is there already is not added again: studies share parsers.
    ///
    /// # Errors
    /// [`TwoParsers`] if another family has the name.
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

    /// The family of a name, if there is one.
    pub fn get(&self, name: &str) -> Option<&'static ParserFamily> {
        self.0.iter().find(|family| family.name == name).copied()
    }

    /// The family of a name.
    ///
    /// # Errors
    /// [`RegistryError::UnknownName`].
    pub fn family(&self, name: &str) -> Result<&'static ParserFamily, RegistryError> {
        self.get(name).ok_or_else(|| unknown(name, self.0.iter().map(|family| family.name)))
    }

    /// Makes the parser that a spec names.
    ///
    /// # Errors
    /// [`RegistryError`]: unknown name or version, or settings that do not fit.
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

    /// Every `(name, version)` there is.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u32)> {
        self.0
            .iter()
            .flat_map(|family| family.versions.iter().map(|version| (family.name, *version)))
    }

    /// Reads `name@version`, or `name` for its latest version.
    ///
    /// # Errors
    /// [`RegistryError`]: not such a text, or unknown.
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

    static ANOTHER: ParserFamily =
        ParserFamily { name: "free_text", versions: &[7], make: |_| Err("never".to_owned()) };

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
        assert_eq!(FREE_TEXT.resolve("free_text"), Ok(1));
        assert!(matches!(FREE_TEXT.resolve("moderator@1"), Err(RegistryError::UnknownName { .. })));
    }
}
