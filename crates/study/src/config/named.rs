//! Settings that choose whom we talk to and what we read, with who made the choice.
//!
//! The same types are read from a config that the user gives to this invocation and from the settings of
//! a run, which may come from anybody. So what is read was chosen by nobody yet; only the reading of a
//! config ([`ModelConfig::named_by_config`](super::ModelConfig::named_by_config)) and a flag make it the
//! user's.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use retold::model::{NamedUrl, without_secrets};

/// Where an API is, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BaseUrl {
    /// Nobody: it is where the program's default is.
    #[default]
    BuiltIn,
    /// The user, in this invocation.
    Named(NamedUrl),
    /// A file that may come from anybody, such as the recorded settings of a run. Nothing is sent there.
    Recorded(String),
}

impl Serialize for BaseUrl {
    /// As it is recorded: without secrets.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let url = match self {
            BaseUrl::BuiltIn => NamedUrl::openai().without_secrets(),
            BaseUrl::Named(url) => url.without_secrets(),
            BaseUrl::Recorded(url) => without_secrets(url),
        };
        serializer.serialize_str(&url)
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(BaseUrl::Recorded)
    }
}

/// The environment variable that holds a key, if the user has named one in this invocation.
///
/// It is never recorded, and a recorded one is not taken: a recording could have a secret of the user's sent to some
/// server, or hold a key that somebody wrote in the place of its variable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeyVariable {
    /// Nobody has named one.
    #[default]
    Unnamed,
    /// The user, in this invocation.
    Named(String),
}

impl KeyVariable {
    /// What the user has named.
    ///
    /// # Errors
    /// What is wrong with it. It may be a key, so it is not shown.
    pub fn given(name: &str) -> Result<Self, &'static str> {
        let mut bytes = name.bytes();
        let begins = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        match begins && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            true => Ok(KeyVariable::Named(name.to_owned())),
            false => Err(
                "it is not the name of an environment variable (letters, digits and _): name the variable that holds the \
                 key, never the key itself",
            ),
        }
    }
}

impl<'de> Deserialize<'de> for KeyVariable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|_| KeyVariable::Unnamed)
    }
}

/// A file to answer from, and who names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswersFile {
    /// The user, in this invocation.
    Named(PathBuf),
    /// A file that may come from anybody. It is not read.
    Recorded(PathBuf),
}

impl AnswersFile {
    /// The path, whoever names it.
    pub fn path(&self) -> &Path {
        match self {
            AnswersFile::Named(path) | AnswersFile::Recorded(path) => path,
        }
    }
}

impl Serialize for AnswersFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.path().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AnswersFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(AnswersFile::Recorded)
    }
}
