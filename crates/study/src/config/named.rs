//! Settings that choose a server or a file, together with who chose them.
//!
//! The same types are read from a config that the user gives in this invocation and from the
//! settings of a run, which can come from anyone. Reading therefore marks them as chosen by nobody;
//! only reading a config ([`ModelConfig::named_by_config`](super::ModelConfig::named_by_config)) or
//! a flag marks them as the user's.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kinds::ApiKind;
use retold::model::{NamedUrl, without_secrets};

/// Where an API is, and who chose it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BaseUrl {
    /// Nobody: the program's default is used.
    #[default]
    BuiltIn,
    /// The user, in this invocation.
    Named(NamedUrl),
    /// A file that can come from anyone, such as the recorded settings of a run. Nothing is sent
    /// there.
    Recorded(String),
}

impl BaseUrl {
    /// Whether nobody chose it: no server is asked, or it is not known yet which.
    pub(super) fn is_built_in(&self) -> bool {
        *self == BaseUrl::BuiltIn
    }
}

impl Serialize for BaseUrl {
    /// The recorded form, without secrets.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let url = match self {
            BaseUrl::BuiltIn => NamedUrl::own(ApiKind::default().access()).without_secrets(),
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

/// The environment variable with a key, if the user has named one in this invocation.
///
/// It is never recorded, and a recorded one is ignored: otherwise a recording could make the
/// program send any of the user's secrets to some server, or contain a key that somebody wrote
/// instead of its variable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeyVariable {
    /// Nobody has named one.
    #[default]
    Unnamed,
    /// The user, in this invocation.
    Named(String),
}

impl KeyVariable {
    /// A variable named by the user.
    ///
    /// # Errors
    /// The problem with the name. The name is not shown, because it may be a key.
    pub fn from_name(name: &str) -> Result<Self, &'static str> {
        let mut bytes = name.bytes();
        let begins = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if begins && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            Ok(KeyVariable::Named(name.to_owned()))
        } else {
            Err(
                "it is not the name of an environment variable (letters, digits and _): name the variable with the \
                 key, never the key itself",
            )
        }
    }
}

impl<'de> Deserialize<'de> for KeyVariable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|_| KeyVariable::Unnamed)
    }
}

/// A file with answers, and who names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswersFile {
    /// The user, in this invocation.
    Named(PathBuf),
    /// A file that can come from anyone. It is not read.
    Recorded(PathBuf),
}

impl AnswersFile {
    /// The path, regardless of who names it.
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
