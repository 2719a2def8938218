//! The flags that have a run asked by batch.

use std::time::Duration;

use crate::error::CliError;
use retold::model::ServiceTier;
use retold_study::config::{ModelConfig, ModelKind};

/// Whether answers come by batch, and whether the command waits for them.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Batches")]
pub(crate) struct BatchArgs {
    /// Ask by batch, at half the price: all questions that can be asked at the same time are handed to the provider in one
    /// piece, and answered within a day. The run then waits (exit code 75), and --resume collects the answers and continues, on any
    /// machine with the same log and key. The tier of a config can be `batch` as well.
    #[arg(long)]
    batch: bool,
    /// With batches: stay until they have ended, and continue.
    #[arg(long)]
    wait: bool,
    /// With batches: how long to wait between two looks at one, in seconds. Without it, 60.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    poll: Option<Duration>,
}

/// How long a command waits for batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchWait {
    /// Whether it stays until they have ended.
    pub(crate) stays: bool,
    /// How long it waits between two looks.
    pub(crate) poll: Duration,
}

impl Default for BatchWait {
    fn default() -> Self {
        BatchWait { stays: false, poll: Duration::from_secs(60) }
    }
}

/// A number of seconds, as clap wants it.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "it must be a number of seconds from 0 to 86400".to_owned())
}

impl BatchArgs {
    /// Whether answers are to come by batch.
    pub(crate) fn is_asked(&self) -> bool {
        self.batch
    }

    /// Applies them to the model of a config.
    pub(super) fn apply(&self, model: &mut ModelConfig) -> Result<(), CliError> {
        if !self.batch {
            return Ok(());
        }
        if model.kind.api().is_none() {
            let what = match model.kind {
                ModelKind::Scripted => "an answers file",
                _ => "a simulated model",
            };
            return Err(CliError::usage(format!("--batch: {what} answers at once"))
                .hint("name a model at a server: --model PROVIDER/MODEL"));
        }
        model.tier = Some(ServiceTier::Batch);
        Ok(())
    }

    /// How long the command waits for batches.
    pub(crate) fn batch_wait(&self) -> BatchWait {
        let usual = BatchWait::default();
        BatchWait { stays: self.wait, poll: self.poll.unwrap_or(usual.poll) }
    }
}
