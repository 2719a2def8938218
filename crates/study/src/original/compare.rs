//! Compares our outputs with those of an original run.

use serde_json::Value;

use super::{OriginalError, Rows};
use retold::run::OutputFile;

/// The result of a comparison with an original run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OriginalComparison {
    /// How many values were compared.
    pub compared: u64,
    /// The differences, one line each, with the reason if it is known.
    pub differences: Vec<String>,
    /// The parts of the original that are not compared, one line each.
    pub not_compared: Vec<String>,
}

impl OriginalComparison {
    /// Counts a compared value, and adds the difference if there is one.
    pub fn value(&mut self, is_same: bool, difference: impl FnOnce() -> String) {
        self.compared += 1;
        if !is_same {
            self.differences.push(difference());
        }
    }

    /// Returns the value that was read; an error is added as a difference.
    pub fn read<T>(&mut self, read: Result<T, OriginalError>) -> Option<T> {
        read.map_err(|e| self.differences.push(e.to_string())).ok()
    }
}

/// Our own output files, by name.
#[derive(Debug, Clone, Copy)]
pub struct Outputs<'a>(pub &'a [OutputFile]);

impl Outputs<'_> {
    fn bytes(&self, name: &str) -> Result<Vec<u8>, OriginalError> {
        let wrong = |reason| OriginalError::Unreadable { path: format!("our {name}"), reason };
        let file = self.0.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| wrong("our run does not write it".to_owned()))?;
        file.content.bytes().map_err(|e| wrong(e.to_string()))
    }

    /// One of our tables.
    ///
    /// # Errors
    /// [`OriginalError`] if our run does not write it.
    pub fn table(&self, name: &str) -> Result<Rows, OriginalError> {
        Rows::parse(&String::from_utf8_lossy(&self.bytes(name)?), &format!("our {name}"), &[])
    }

    /// One of our JSON files.
    ///
    /// # Errors
    /// [`OriginalError`] if our run does not write it, or it is not JSON.
    pub fn json(&self, name: &str) -> Result<Value, OriginalError> {
        serde_json::from_slice(&self.bytes(name)?).map_err(|e| OriginalError::Inconsistent {
            path: format!("our {name}"),
            reason: format!("not JSON: {e}"),
        })
    }
}
