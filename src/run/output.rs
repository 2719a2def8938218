//! What an experiment writes for other programs, based on its state.

use std::error::Error;
use std::io;

use serde::Serialize;

use super::spool::Spool;
use crate::id::{RunId, Sample};
use crate::log::LogError;

/// A file in every output folder with simulated answers, because the other files cannot say so.
pub const SIMULATED_MARK: &str = "SIMULATED.txt";

/// A file of a run's output folder.
#[derive(Debug)]
pub struct OutputFile {
    /// Its name in the folder, not a path.
    pub name: String,
    /// Its content.
    pub content: Spool,
}

impl OutputFile {
    /// A value as JSON, indented by two spaces.
    ///
    /// # Errors
    /// [`OutputError::Json`] if it has no JSON form.
    pub fn json(name: &str, value: &impl Serialize) -> Result<Self, OutputError> {
        let bytes = serde_json::to_vec_pretty(value)
            .map_err(|e| OutputError::Json { name: name.to_owned(), source: e.into() })?;
        Ok(OutputFile { name: name.to_owned(), content: bytes.into() })
    }

    /// A text.
    pub fn text(name: &str, text: impl Into<String>) -> Self {
        OutputFile { name: name.to_owned(), content: text.into().into_bytes().into() }
    }
}

/// Why a run's outputs cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A recorded fact is not one of this experiment's.
    #[error("fact {number} is not a fact of this experiment: {source}")]
    Fact {
        /// The number of the fact, from 0.
        number: usize,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Something has no JSON form.
    #[error("{name} has no JSON form: {source}")]
    Json {
        /// The file.
        name: String,
        /// The error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The temporary file of a large one cannot be read.
    #[error("{name} cannot be read back: {source}")]
    Unreadable {
        /// The file.
        name: String,
        /// What happened.
        source: io::Error,
    },
    /// The run has no such part.
    #[error("run {run} has no {part}; {}", those_there(.parts))]
    NoPart {
        /// The run.
        run: RunId,
        /// The part that was asked for.
        part: String,
        /// The parts that it has.
        parts: Vec<String>,
    },
    /// The log lacks an answer that an output is made from.
    #[error("the log lacks the answer of {call} sample {sample}")]
    NoAnswer {
        /// The call.
        call: String,
        /// The sample.
        sample: Sample,
    },
    /// The log lacks a vector.
    #[error("the log lacks the vector of {call}")]
    NoVector {
        /// The call.
        call: String,
    },
    /// The recorded settings are not those of the experiment.
    #[error("the settings of the run cannot be used: {source}")]
    Settings {
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
}

fn those_there(parts: &[String]) -> String {
    match parts {
        [] => "it has no participants yet".to_owned(),
        [only] => format!("it only has {only}"),
        [first, .., last] => format!("it has {}, {first} to {last}", parts.len()),
    }
}
