//! A value that makes no sense, shown with its line.

use std::path::{Path, PathBuf};

use super::yaml::ConfigError;

/// The first thing in a config that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The key, with dots.
    pub key: String,
    /// Words to look for in the file to find the line: the n-th place of a text is the one to show.
    pub near: (String, usize),
    /// What is wrong.
    pub message: String,
}

impl Wrong {
    /// Something wrong at a key.
    pub fn new(key: &str, message: impl Into<String>) -> Wrong {
        let last = key.rsplit('.').next().unwrap_or(key);
        Wrong { key: key.to_owned(), near: (format!("{last}:"), 1), message: message.into() }
    }

    /// The mistake with its line, if the file has the key: a `--set` may have brought it in.
    pub fn at(self, path: &Path, text: &str) -> ConfigError {
        let Wrong { key, near: (near, times), message } = self;
        let path = path.display().to_string();
        let places = (1_u64..).zip(text.lines()).filter_map(|(number, line)| {
            let column = line.find(&near)? as u64 + 1;
            Some((number, column, line))
        });
        let last = places.take(times).last();
        match last {
            None => ConfigError::Value { path, key, message },
            Some((line, column, shown)) => ConfigError::Invalid {
                path,
                line,
                column,
                message: format!("{key}: {message}"),
                snippet: format!("{line:>4} | {shown}"),
            },
        }
    }
}

/// A path in a config: relative to the config if there is such a file, else as it is.
pub fn beside(config: &Path, path: &Path) -> PathBuf {
    let near = config.parent().map(|folder| folder.join(path)).filter(|near| near.exists());
    near.unwrap_or_else(|| path.to_owned())
}
