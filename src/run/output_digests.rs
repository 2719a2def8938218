//! The digests of a run's report and output files, and whether they are made again as they were recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use serde_json::json;

use super::experiment::{AnyExperiment, Report};
use super::output::{OutputError, OutputFile};
use super::record::RunRecord;
use crate::escaping::printable;
use crate::id::OutputDigest;
use crate::prompt::{canonical, hash_of};

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
    // The parts that failed are in both.
    let Report { json, text, empty_because, failed: _ } = report;
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
