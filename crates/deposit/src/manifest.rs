//! The runs of a deposit, for programs.

use retold::id::{EventHash, RunId, Seq};
use serde::{Deserialize, Serialize};

/// The name of its file.
pub const MANIFEST: &str = "deposit.json";

/// The format, with its version.
const FORMAT: &str = "retold deposit 1";

/// The place of a run in a deposit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPlace {
    /// The figures are of it.
    Figures,
    /// The plan by which another was recorded.
    Plan,
    /// Decisions that were accepted about the answers of another.
    Decisions,
    /// A judge whose verdicts were accepted.
    Judge,
}

/// A run of a deposit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepositedRun {
    /// Its id.
    pub run: RunId,
    /// Its study, or `program`.
    pub experiment: String,
    /// Its place.
    pub place: RunPlace,
    /// How many events it has.
    pub events: Seq,
    /// The hash of the last; left out where texts are, because it could be tested with a guess at them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<EventHash>,
}

impl DepositedRun {
    /// Its recording.
    pub fn recording(&self) -> String {
        format!("recordings/{}.jsonl", self.run)
    }
}

/// The runs of a deposit, and whether it has their texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    /// The program that wrote it.
    pub program: String,
    /// Whether recordings are in it.
    pub texts: bool,
    /// Its runs, each after those that it needs.
    pub runs: Vec<DepositedRun>,
}

/// A file that is not a manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It is something else.
    #[error("{MANIFEST} cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of a later release.
    #[error("{MANIFEST} has the format {0:?}, and this release reads {FORMAT:?}")]
    Format(String),
}

impl Manifest {
    /// The manifest of these runs.
    pub fn new(runs: Vec<DepositedRun>, texts: bool) -> Self {
        Manifest { format: FORMAT.to_owned(), program: retold::PROGRAM.to_owned(), texts, runs }
    }

    /// It as a file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ManifestError`].
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let read: Manifest = serde_json::from_str(text)?;
        match read.format == FORMAT {
            true => Ok(read),
            false => Err(ManifestError::Format(retold::escaping::printable(&read.format, 60))),
        }
    }

    /// The runs whose figures are in the deposit.
    pub fn of_figures(&self) -> impl Iterator<Item = RunId> {
        self.runs.iter().filter(|of| of.place == RunPlace::Figures).map(|of| of.run)
    }
}
