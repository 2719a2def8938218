//! A config that cannot be used, and how messages show its lines.

use retold::encoding::NotUtf8;
use retold::escaping::printable;

/// A config that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's error message.
        reason: String,
    },
    /// The file is in another encoding.
    #[error("{}", problem.sentence(path))]
    NotUtf8 {
        /// The file.
        path: String,
        /// Where, and how to convert it.
        problem: NotUtf8,
    },
    /// The YAML is broken, or a key is unknown, missing, or of the wrong type.
    #[error("{path}:{line}:{column}: {message}\n{snippet}")]
    Invalid {
        /// The file.
        path: String,
        /// From 1.
        line: u64,
        /// From 1.
        column: u64,
        /// The problem.
        message: String,
        /// The lines around it.
        snippet: String,
    },
    /// A value that is well-formed but invalid. The registry finds the line of the key; see
    /// [`locate`](super::locate).
    #[error("{path}: {key}: {message}")]
    Value {
        /// The file.
        path: String,
        /// The key, with dots.
        key: String,
        /// The problem.
        message: String,
    },
    /// A file that somebody else's config must not choose: its text would be sent to a model.
    #[error("{path} names {file}, which is outside the folder of this config")]
    Outside {
        /// The config.
        path: String,
        /// The file, as the config names it.
        file: String,
    },
    /// A `--set` that cannot be applied.
    #[error("--set {setting}: {message}")]
    Override {
        /// The setting as given.
        setting: String,
        /// The problem.
        message: String,
    },
}

impl ConfigError {
    /// A `--set` that cannot be applied. Secrets in the setting are not shown.
    pub fn of_override(setting: &str, message: String) -> Self {
        ConfigError::Override { setting: redact(setting), message }
    }
}

/// A line of a config, from 1, as messages show it.
pub(super) fn snippet(text: &str, line: u64) -> String {
    let found = text.lines().nth(usize::try_from(line.saturating_sub(1)).unwrap_or(0));
    format!("{line:>4} | {}", redact(found.unwrap_or("")))
}

/// A part of a config for a message. The parts of URLs that may be secret (user name, password,
/// query) are left out.
fn redact(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
        let (url, left) = after.split_at(after.find(ends).unwrap_or(after.len()));
        let (path, query) =
            url.split_once(['?', '#']).map_or((url, ""), |(path, _)| (path, "?[...]"));
        let (host, path) = path.split_at(path.find('/').unwrap_or(path.len()));
        let host = match host.rsplit_once('@') {
            Some((_, host)) => format!("[...]@{host}"),
            None => host.to_owned(),
        };
        shown.push_str(&format!("{before}://{host}{path}{query}"));
        rest = left;
    }
    printable(&format!("{shown}{rest}"), 120)
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let line = "url: \"https://me:pw@a.example/x/y?token=s3cret#z\" # see http://b.example/?q";
        let expected = "url: \"https://[...]@a.example/x/y?[...]\" # see http://b.example/?[...]";
        assert_eq!(redact(line), expected);
        assert_eq!(redact("a: b"), "a: b");
        assert_eq!(redact("u: http://p@ss@h"), "u: http://[...]@h");
    }
}
