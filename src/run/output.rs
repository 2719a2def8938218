//! What an experiment writes for other programs, from its state.

use serde::Serialize;

use crate::id::RunId;
use crate::log::LogError;
use crate::table::{Spool, Table};

/// A file that is in every output folder of made-up answers, where the others have no place to say so.
pub const SIMULATED_MARK: &str = "SIMULATED.txt";

/// A file of a run's output folder.
#[derive(Debug)]
pub struct OutputFile {
    /// Its name in the folder; no path.
    pub name: String,
    /// What is in it.
    pub content: Spool,
}

impl OutputFile {
    /// A table as `NAME.csv`.
    pub fn table(table: Table) -> Self {
        OutputFile { name: format!("{}.csv", table.name()), content: table.csv() }
    }

    /// A value as JSON, indented by two spaces.
    ///
    /// # Errors
    /// [`OutputError::Json`] if it has no JSON form.
    pub fn json(name: &str, value: &impl Serialize) -> Result<Self, OutputError> {
        let bytes = serde_json::to_vec_pretty(value)
            .map_err(|e| OutputError::Json { name: name.to_owned(), reason: e.to_string() })?;
        Ok(OutputFile { name: name.to_owned(), content: bytes.into() })
    }

    /// A text.
    pub fn text(name: &str, text: impl Into<String>) -> Self {
        OutputFile { name: name.to_owned(), content: text.into().into_bytes().into() }
    }
}

/// Why a run's outputs cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A recorded fact is none of this experiment.
    #[error("fact {number} is none of this experiment: {reason}")]
    Fact {
        /// Which, from 0.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// Something has no JSON form.
    #[error("{name} has no JSON form: {reason}")]
    Json {
        /// The file.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The run has no such part to tell of.
    #[error("run {run} has no {what}; {there}")]
    NoPart {
        /// The run.
        run: RunId,
        /// What was asked for.
        what: String,
        /// What there is.
        there: String,
    },
    /// The log lacks what an output is made of.
    #[error("the log lacks {what}")]
    Missing {
        /// What.
        what: String,
    },
}
