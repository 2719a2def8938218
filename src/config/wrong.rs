//! A value that makes no sense.

use std::path::Path;

use super::yaml::ConfigError;

/// The first thing in a config that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The key, with dots; list items in brackets, from 0: `topic.options[2]`.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl Wrong {
    /// Something wrong at a key.
    pub fn new(key: &str, message: impl Into<String>) -> Wrong {
        Wrong { key: key.to_owned(), message: message.into() }
    }

    /// The mistake in a file; [`located`](super::located) adds its line.
    pub fn at(self, path: &Path) -> ConfigError {
        let Wrong { key, message } = self;
        ConfigError::Value { path: path.display().to_string(), key, message }
    }
}

impl From<(String, String)> for Wrong {
    fn from((key, message): (String, String)) -> Self {
        Wrong { key, message }
    }
}
