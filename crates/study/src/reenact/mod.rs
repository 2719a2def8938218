//! Original runs of other programs, executed again by our code: our experiment asks, the original
//! answers reply, by call path. The result is a normal run that replays, checks and audits.
//!
//! - [`Rows`], [`JsonFile`], [`lines`], [`read_text`]: tables, JSON, JSON Lines and texts of such runs.
//! - [`Pairs`]: rows of theirs beside ours.
//! - [`Answers`]: the model that answers what was answered then.

mod answers;
mod json;
mod lines;
mod pairs;
mod rows;

use std::path::Path;
use std::sync::Arc;

pub use answers::Answers;
pub use json::{JsonFile, typed};
pub use lines::lines;
pub use pairs::Pairs;
pub use rows::{Row, Rows, read_text};

use super::study::Study;
use crate::config::{ModelConfig, ModelKind, Runtime};
use retold::encoding::NotUtf8;
use retold::model::{Model, RetryPolicy};
use retold::run::OutputFile;

/// An original run, ready to be executed again.
pub struct Reenactment {
    /// The experiment with the settings of the original, as far as they are known.
    pub study: Study,
    /// The original answers, by call path.
    pub model: Arc<dyn Model>,
    /// What the original never recorded, one line each. It is told, not invented.
    pub notes: Vec<String>,
    /// Compares our outputs with the original's.
    pub compare: Compare,
}

/// How such a run is asked: by answers that are at hand or are not, so that nothing gets better by trying
/// again.
pub fn runtime() -> Runtime {
    Runtime {
        model: ModelConfig { kind: ModelKind::Scripted, ..ModelConfig::default() },
        retry: RetryPolicy { max_retries: 0, ..RetryPolicy::default() },
        ..Runtime::default()
    }
}

/// Compares our output files with those of the original.
pub type Compare = Box<dyn Fn(&[OutputFile]) -> Comparison>;

/// Reads an original run: a folder or a file.
pub type Reenact = fn(&Path) -> Result<Reenactment, ReenactError>;

/// What a comparison with an original run found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// How many values were compared.
    pub compared: u64,
    /// Where they differ, one line each, with the reason where it is known.
    pub differences: Vec<String>,
    /// What the original holds that is not compared, one line each.
    pub not_compared: Vec<String>,
}

impl ReenactError {
    /// A file in another encoding.
    #[must_use]
    pub fn not_utf8(path: String, problem: NotUtf8) -> Self {
        let NotUtf8 { line, reason } = problem;
        match line {
            Some(line) => ReenactError::Line { path, line, reason },
            None => ReenactError::Inconsistent { path, reason },
        }
    }
}

/// Why an original run cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReenactError {
    /// A file or folder is missing or cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A line of a file does not hold what it should.
    #[error("{path}, line {line}: {reason}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Files or values that do not fit together.
    #[error("{path}: {reason}")]
    Inconsistent {
        /// The file or folder.
        path: String,
        /// What does not fit.
        reason: String,
    },
}
