//! JSON Lines of original runs, plain or compressed.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::OriginalError;
use retold::escaping::printable;
use retold::explain::explain;
use retold::jsonl::{JsonlProblem, JsonlReader};

/// The rows of a file, each with its line; `what` describes a line, for messages.
///
/// # Errors
/// [`OriginalError`] for a file that cannot be read, or a line that is something else.
pub fn lines<T: DeserializeOwned>(path: &Path, what: &str) -> Result<Vec<(u64, T)>, OriginalError> {
    let shown = path.display().to_string();
    let mut rows = Vec::new();
    let refused = |e: retold::jsonl::JsonlError| match e.line {
        Some(line) => {
            let (path, mut reason) = (shown.clone(), e.problem.to_string());
            if matches!(e.problem, JsonlProblem::NotUtf8 { .. }) {
                reason.push_str(": save the file as UTF-8");
            }
            OriginalError::Line { path, line: line as u64, reason }
        }
        None if matches!(e.problem, JsonlProblem::Wide { .. }) => {
            OriginalError::Inconsistent { path: shown.clone(), reason: e.problem.to_string() }
        }
        None => OriginalError::Unreadable { path: shown.clone(), reason: e.problem.to_string() },
    };
    for line in JsonlReader::open(path).map_err(refused)? {
        let (number, text) = line.map_err(refused)?;
        let row = serde_json::from_str(&text).map_err(|e| {
            let whole = e.to_string();
            let reason = explain(whole.rsplit_once(" at line ").map_or(&whole, |(said, _)| said));
            let reason = format!("not {what}: {}", printable(&reason, 200));
            OriginalError::Line { path: shown.clone(), line: number as u64, reason }
        })?;
        rows.push((number as u64, row));
    }
    Ok(rows)
}
