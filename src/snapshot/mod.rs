//! Snapshots of decisions: one file per recorded answer, to be reviewed and compared.
//!
//! The files have the format of the crate `insta`: a changed snapshot is written beside the old one
//! as `.snap.new`, and `cargo insta review` shows and accepts it. A test of your own parser takes
//! three lines:
//!
//! ```no_run
//! # use retold::{parse::text::free_text, snapshot};
//! # let my_parser = free_text::parser().unwrap();
//! let (answers, folder) = ("tests/answers.jsonl".as_ref(), "tests/snapshots".as_ref());
//! let seen = snapshot::of_file(answers, folder, &my_parser).unwrap();
//! assert!(seen.is_unchanged(), "{seen}");
//! ```

mod file;
mod name;
mod render;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::decide::{
    Again, AgainError, Choices, Own, ParserParams, Selection, SkippedAnswers, SkippedChoices,
    each_decision,
};
use crate::event::kind;
use crate::exchange::{ImportError, is_recording, read_exchanges, read_recording};
use crate::id::{RunId, Time};
use crate::jsonl::JsonlReader;
use crate::log::{Index, LogError, Reader};
use crate::parse::{AnyParser, Parsers};

pub use name::file_name;

/// The most files that are written: nobody can review more in one folder.
pub const MOST: usize = 100_000;

/// Why snapshots could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// No decision could be made about the answers.
    #[error(transparent)]
    Again(#[from] AgainError),
    /// The file of answers cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The folder, or a file in it, cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The path.
        path: String,
        /// The system's error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There are more answers than files that are written.
    #[error("there are more than {MOST} answers: snapshots are files, one for each")]
    TooMany,
    /// There are no answers.
    #[error("there is nothing to make a snapshot of")]
    Nothing(SkippedAnswers),
}

impl From<LogError> for SnapshotError {
    fn from(error: LogError) -> Self {
        SnapshotError::Again(error.into())
    }
}

/// A snapshot that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotChange {
    /// Its file.
    pub path: PathBuf,
    /// The difference, line by line.
    pub diff: String,
}

/// How the snapshots in a folder compare with the current decisions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// How many have not changed.
    pub same: usize,
    /// Those that were missing and have been written.
    pub written: Vec<PathBuf>,
    /// Those that differ: the new version was written beside the old one, as `.snap.new`.
    pub changed: Vec<SnapshotChange>,
    /// Those in the folder that no answer belongs to; they are left as they are.
    pub unreferenced: Vec<PathBuf>,
    /// The answers that were left alone.
    pub left: SkippedAnswers,
}

impl Snapshots {
    /// Whether no decision differs from its snapshot.
    pub fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
    }
}

impl fmt::Display for Snapshots {
    /// The differences, and what to do about them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for SnapshotChange { path, diff } in &self.changed {
            writeln!(f, "{}\n{diff}", path.display())?;
        }
        match self.changed.len() {
            0 => write!(f, "all {} snapshots are unchanged", self.same + self.written.len()),
            n => write!(f, "{n} of {} snapshots differ: `cargo insta review`", n + self.same),
        }
    }
}

/// Compares the decisions about the answers in a file (a recording or exchanges) with the snapshots
/// in a folder. A missing snapshot is written; for one that differs, the new version is written
/// beside it as `.snap.new`.
///
/// # Errors
/// [`SnapshotError`].
pub fn of_file(
    file: &Path,
    folder: &Path,
    parser: &dyn AnyParser,
) -> Result<Snapshots, SnapshotError> {
    let mut lines = JsonlReader::open(file).map_err(ImportError::from)?;
    let (log, run) = if is_recording(&mut lines) {
        let recording = read_recording(lines)?;
        (recording.log, recording.run)
    } else {
        read_exchanges(lines, Time(0))?.into_log()
    };
    let mut own = Own(parser);
    // Whatever parser decided before: this one is to decide about every answer.
    let parsers = &Parsers::default();
    let (by, params) = (Again::By(&mut own), &ParserParams::Recorded);
    let choice = Selection { by, params, only: None, choices: Choices::First, name: None, parsers };
    of_run(log.reader()?.as_mut(), run, choice, folder)
}

/// Compares the decisions about the answers of a run with the snapshots in a folder, as [`of_file`]
/// does.
///
/// # Errors
/// [`SnapshotError`].
pub fn of_run(
    reader: &mut dyn Reader,
    run: RunId,
    choice: Selection<'_>,
    folder: &Path,
) -> Result<Snapshots, SnapshotError> {
    let census = Index::open(reader, run)?.census(reader)?;
    let answers = |kind| census.events.get(kind).copied().unwrap_or(0);
    let answers = answers(kind::RESPONSE_RECEIVED) + answers(kind::ANSWER_REUSED);
    if choice.only.is_none() && answers > MOST as u64 {
        return Err(SnapshotError::TooMany);
    }
    let is_of_one_call = choice.only.is_some();
    let mut seen = Snapshots::default();
    let mut names = BTreeSet::new();
    let left = each_decision(reader, run, choice, |_, made| {
        if names.len() >= MOST {
            return Err(SnapshotError::TooMany);
        }
        let name = file_name(&made.answer.call, made.answer.sample, made.answer.choice.at);
        let path = folder.join(&name);
        match file::compare(&path, &render::header(&made), &render::body(&made))? {
            file::SnapshotComparison::Same => seen.same += 1,
            file::SnapshotComparison::Written => seen.written.push(path),
            file::SnapshotComparison::Differs(diff) => {
                seen.changed.push(SnapshotChange { path, diff })
            }
        }
        names.insert(name);
        Ok(())
    })?;
    if names.is_empty() {
        return Err(SnapshotError::Nothing(left));
    }
    // Checking part of a run leaves the snapshots of the other calls and choices alone.
    if !is_of_one_call && left.choices == SkippedChoices::default() {
        seen.unreferenced = file::others(folder, &names)?;
    }
    seen.left = left;
    Ok(seen)
}
