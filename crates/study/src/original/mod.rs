//! Original runs: runs of other programs, imported by running them again. Our experiment asks, and
//! the original answers reply, by call path. The result is a normal run that can be replayed,
//! checked and audited.
//!
//! - [`OriginalFolder`]: the folder of an original run; its errors name the missing or inconsistent data.
//! - [`Rows`], [`JsonFile`], [`lines`]: its tables, JSON and JSON Lines.
//! - [`Answers`]: the model that gives the original answers.
//! - [`OriginalComparison`]: compares our outputs with the original's; [`Pairs`]: their rows next to ours;
//!   [`Outputs`]: our files.

mod answers;
mod compare;
mod error;
mod folder;
mod json;
mod lines;
mod pairs;
mod rows;

use std::path::Path;
use std::sync::Arc;

pub use answers::Answers;
pub use compare::{OriginalComparison, Outputs};
pub use error::OriginalError;
pub use folder::OriginalFolder;
pub use json::{JsonFile, from_value};
pub use lines::lines;
pub use pairs::Pairs;
pub use rows::{OriginalRow, Rows};

use crate::config::{ModelConfig, ModelKind, Runtime};
use crate::settings::AnySettings;
use crate::study::Study;
use retold::model::{Model, RetryPolicy};
use retold::run::OutputFile;

/// An original run, ready to be run again.
pub struct Original {
    /// The experiment with the original's settings, as far as they are known.
    pub study: Study,
    /// The original answers, by call path.
    pub model: Arc<dyn Model>,
    /// The data that the original did not record, one line each. They are reported, not invented.
    pub notes: Vec<String>,
    /// Compares our outputs with the original's.
    pub compare: Compare,
}

/// Compares our output files with those of the original.
pub type Compare = Box<dyn Fn(&[OutputFile]) -> OriginalComparison>;

/// Reads an original run: a folder or a file.
pub type ReadOriginal = fn(&Path) -> Result<Original, OriginalError>;

impl Original {
    /// An original run of an experiment. Every answer is either there or not, so retrying would not
    /// help.
    pub fn new(
        experiment: &str,
        seed: u64,
        settings: impl AnySettings,
        answers: Answers,
        notes: Vec<String>,
        compare: impl Fn(&[OutputFile]) -> OriginalComparison + 'static,
    ) -> Self {
        let runtime = Runtime {
            model: ModelConfig { kind: ModelKind::Scripted, ..ModelConfig::default() },
            retry: RetryPolicy { max_retries: 0, ..RetryPolicy::default() },
            ..Runtime::default()
        };
        Original {
            study: Study::new(experiment, seed, settings, runtime),
            model: Arc::new(answers),
            notes,
            compare: Box::new(compare),
        }
    }
}
