//! The frozen model answers in `fixtures/responses`, one file per case.
//!
//! A file has the parser's settings as one line of JSON, a line `---`, and the answer, byte for
//! byte.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One frozen answer.
pub(crate) struct Case {
    /// The file's name without its extension.
    pub(crate) name: String,
    /// The parser's settings.
    pub(crate) params: Value,
    /// What the model said.
    pub(crate) answer: String,
    /// The whole file, for digests.
    pub(crate) raw: Vec<u8>,
}

/// A path in the `fixtures` folder.
pub(crate) fn fixtures(path: &str) -> PathBuf {
    Path::new(env!("RETOLD_ROOT")).join("fixtures").join(path)
}

/// The cases of a parser, by name; empty if it has no folder.
pub(crate) fn cases(parser: &str) -> Vec<Case> {
    let Ok(entries) = std::fs::read_dir(fixtures("responses").join(parser)) else {
        return Vec::new();
    };
    let mut cases: Vec<Case> = entries.map(|entry| read(&entry.unwrap().path())).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn read(path: &Path) -> Case {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let raw = std::fs::read(path).unwrap();
    let text = String::from_utf8(raw.clone()).unwrap();
    let (params, answer) = text
        .split_once("\n---\n")
        .unwrap_or_else(|| panic!("{}: no `---` line after the settings", path.display()));
    let params = serde_json::from_str(params)
        .unwrap_or_else(|e| panic!("{}: settings are not JSON: {e}", path.display()));
    Case { name, params, answer: answer.to_owned(), raw }
}
