//! A file, read whole within limits.

use std::path::Path;

use memchr::memchr3_iter;
use retold::jsonl::read_whole;

use crate::error::{FileProblem, TrafficError};
use crate::node::{LocatedValue, Value};
use crate::yaml::{self, Schema};

/// The largest file, unpacked.
const LARGEST: u64 = 256 << 20;

/// The most values in JSON: each takes far more memory than its bytes.
const MOST_VALUES: usize = 4_000_000;

/// The bytes of a file.
///
/// # Errors
/// [`TrafficError`].
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, TrafficError> {
    Ok(read_whole(path, LARGEST)?)
}

/// A file.
pub(crate) struct Document {
    path: String,
    bytes: Vec<u8>,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// [`TrafficError`].
    pub(crate) fn read(path: &Path) -> Result<Self, TrafficError> {
        Ok(Self::new(path, bytes(path)?))
    }

    /// A file with these bytes.
    pub(crate) fn new(path: &Path, bytes: Vec<u8>) -> Self {
        Document { path: path.display().to_string(), bytes }
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its text.
    ///
    /// # Errors
    /// [`TrafficError::Wrong`] if it is not UTF-8.
    pub(crate) fn text(&self) -> Result<&str, TrafficError> {
        let text =
            std::str::from_utf8(&self.bytes).map_err(|_| self.wrong(None, FileProblem::NotUtf8))?;
        Ok(text.strip_prefix('\u{FEFF}').unwrap_or(text))
    }

    /// Its name without folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or(&self.path)
    }

    /// An error about this file.
    pub(crate) fn wrong(&self, place: Option<String>, wrong: FileProblem) -> TrafficError {
        TrafficError::wrong(&self.path, place, wrong)
    }

    /// Its one value, in JSON or YAML.
    ///
    /// # Errors
    /// [`TrafficError::Wrong`].
    pub(crate) fn node(&self, schema: Schema) -> Result<LocatedValue, TrafficError> {
        let mut nodes = self.nodes(schema)?;
        match nodes.len() {
            0 | 1 => Ok(nodes.pop().unwrap_or(LocatedValue::new(Value::Null))),
            n => Err(self.wrong(None, FileProblem::Documents(n))),
        }
    }

    /// Its values, one for each YAML document. Documents that are empty, as after a last `---`, have none.
    ///
    /// # Errors
    /// [`TrafficError::Wrong`].
    pub(crate) fn nodes(&self, schema: Schema) -> Result<Vec<LocatedValue>, TrafficError> {
        let text = self.text()?;
        if text.trim_start().starts_with(['{', '[']) {
            return Ok(vec![self.json()?]);
        }
        let nodes = yaml::read(text, schema).map_err(|error| {
            let place = format!("line {}, column {}", error.line, error.column);
            self.wrong(Some(place), FileProblem::Yaml(error.what))
        })?;
        Ok(nodes.into_iter().filter(|node| !matches!(node.value, Value::Null)).collect())
    }

    /// Its value, in JSON.
    ///
    /// # Errors
    /// [`TrafficError::Wrong`].
    pub(crate) fn json(&self) -> Result<LocatedValue, TrafficError> {
        json(self.text()?).map_err(|(place, wrong)| self.wrong(place, wrong))
    }
}

/// A value of JSON.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn json(text: &str) -> Result<LocatedValue, (Option<String>, FileProblem)> {
    parse(text)
}

/// A value of JSON, in its own type.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn json_value(text: &str) -> Result<serde_json::Value, (Option<String>, FileProblem)> {
    parse(text)
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, (Option<String>, FileProblem)> {
    few_values(text).map_err(|wrong| (None, wrong))?;
    serde_json::from_str(text).map_err(|error| not_json(&error))
}

/// Refuses JSON with more values than fit in memory.
///
/// # Errors
/// [`FileProblem::TooMany`].
pub(crate) fn few_values(text: &str) -> Result<(), FileProblem> {
    match memchr3_iter(b',', b'[', b'{', text.as_bytes()).count() > MOST_VALUES {
        true => Err(FileProblem::TooMany(MOST_VALUES)),
        false => Ok(()),
    }
}

/// Why a text is not JSON, and where.
pub(crate) fn not_json(error: &serde_json::Error) -> (Option<String>, FileProblem) {
    let (line, column) = (error.line(), error.column());
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
    (Some(format!("line {line}, column {column}")), FileProblem::Json(what))
}
