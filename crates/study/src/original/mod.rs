//! Original runs: runs of other programs, imported by executing them again. Our experiment asks, the original answers
//! reply, by call path. The result is a normal run that replays, checks and audits.
//!
//! - [`Folder`]: the folder of an original run, with the reason for what is missing or does not fit.
//! - [`Rows`], [`JsonFile`], [`lines`]: its tables, JSON and JSON Lines.
//! - [`Answers`]: the model that answers what was answered then.
//! - [`Comparison`]: our outputs beside the original's; [`Pairs`]: rows of theirs beside ours; [`Outputs`]: our files.

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
pub use compare::{Comparison, Outputs};
pub use error::OriginalError;
pub use folder::Folder;
pub use json::{JsonFile, typed};
pub use lines::lines;
pub use pairs::Pairs;
pub use rows::{Row, Rows};

use crate::config::{ModelConfig, ModelKind, Runtime};
use crate::settings::AnySettings;
use crate::study::Study;
use retold::model::{Model, RetryPolicy};
use retold::run::OutputFile;

/// An original run, ready to be executed again.
pub struct Original {
    /// The experiment with the settings of the original, as far as they are known.
    pub study: Study,
    /// The original answers, by call path.
    pub model: Arc<dyn Model>,
    /// What the original never recorded, one line each. It is reported, not invented.
    pub notes: Vec<String>,
    /// Compares our outputs with the original's.
    pub compare: Compare,
}

/// Compares our output files with those of the original.
pub type Compare = Box<dyn Fn(&[OutputFile]) -> Comparison>;

/// Reads an original run: a folder or a file.
pub type ReadOriginal = fn(&Path) -> Result<Original, OriginalError>;

impl Original {
    /// An original run of an experiment. Its answers are at hand or are not, so nothing gets better by trying again.
    pub fn of(
        (experiment, seed): (&str, u64),
        settings: impl AnySettings,
        answers: Answers,
        notes: Vec<String>,
        compare: impl Fn(&[OutputFile]) -> Comparison + 'static,
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
