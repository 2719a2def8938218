//! What an experiment writes for other programs, based on its state.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::{fmt, io};

use serde::Serialize;
use serde_json::json;

use super::experiment::{AnyExperiment, Report};
use super::record::RunRecord;
use super::spool::Spool;
use crate::escaping::printable;
use crate::id::{OutputDigest, RunId};
use crate::log::LogError;
use crate::prompt::{canonical, hash_of};

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

/// The name for the recorded digest of the report, which `replay` and `show` print. No output file
/// has this name.
pub const REPORT: &str = "report";

/// The digests of a run's report and of its output files, by their names.
///
/// # Errors
/// [`OutputError`] if the report has no JSON form, or the temporary file of a large file cannot be
/// read.
pub fn output_digests(
    report: &Report,
    files: &[OutputFile],
) -> Result<BTreeMap<String, OutputDigest>, OutputError> {
    let digest = |OutputFile { name, content }: &OutputFile| {
        let mut hasher = blake3::Hasher::new();
        let hashed = content.reader().and_then(|bytes| hasher.update_reader(bytes).map(drop));
        hashed.map_err(|e| OutputError::Unreadable { name: name.clone(), source: e })?;
        Ok((name.clone(), OutputDigest(*hasher.finalize().as_bytes())))
    };
    let mut digests = files.iter().map(digest).collect::<Result<BTreeMap<_, _>, OutputError>>()?;
    let Report { json, text, empty_because } = report;
    // The key `nothing` is part of recorded digests.
    let report = canonical(&json!({"json": json, "nothing": empty_because, "text": text}));
    let report =
        report.map_err(|e| OutputError::Json { name: REPORT.to_owned(), source: e.into() })?;
    digests.insert(REPORT.to_owned(), OutputDigest(hash_of(report.as_bytes())));
    Ok(digests)
}

/// An output file, or the report, that differs from the one at the end of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputDifference {
    /// Its name.
    pub name: String,
    /// Its recorded digest, if there was such a file.
    pub recorded: Option<OutputDigest>,
    /// Its digest now, if there is such a file now.
    pub now: Option<OutputDigest>,
}

impl fmt::Display for OutputDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "output {}: ", printable(&self.name, 100))?;
        match (self.recorded, self.now) {
            (Some(recorded), Some(now)) => {
                write!(f, "recorded {}, now {}", recorded.short(12), now.short(12))
            }
            (Some(_), None) => f.write_str("recorded, and missing now"),
            (None, _) => f.write_str("not recorded"),
        }
    }
}

/// Makes the report and the output files of a recorded run again, and compares them with their
/// recorded digests. Returns the number of files and the differences, or `None` if no digests were
/// recorded.
///
/// # Errors
/// [`OutputError`] if they cannot be made.
pub fn compare_outputs(
    experiment: &dyn AnyExperiment,
    record: &mut RunRecord<'_>,
) -> Result<Option<(usize, Vec<OutputDifference>)>, OutputError> {
    let recorded = record.finished.as_ref().and_then(|finished| finished.outputs.clone());
    let Some(recorded) = recorded else { return Ok(None) };
    let files = experiment.outputs_any(record)?;
    let now = output_digests(&experiment.fold(&record.facts)?, &files)?;
    let names: BTreeSet<&String> = recorded.keys().chain(now.keys()).collect();
    let difference = |name: &&String| {
        let (recorded, now) = (recorded.get(*name).copied(), now.get(*name).copied());
        let name = (*name).clone();
        (recorded != now).then_some(OutputDifference { name, recorded, now })
    };
    Ok(Some((files.len(), names.iter().filter_map(difference).collect())))
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
        /// What is wrong.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Something has no JSON form.
    #[error("{name} has no JSON form: {source}")]
    Json {
        /// The file.
        name: String,
        /// What is wrong.
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
    #[error("run {run} has no {what}; {there}")]
    NoPart {
        /// The run.
        run: RunId,
        /// What was asked for.
        what: String,
        /// What there is.
        there: String,
    },
    /// The log lacks something that an output is made from.
    #[error("the log lacks {what}")]
    Missing {
        /// What.
        what: String,
    },
}
