//! The flag for a program's own chance.

use crate::error::{CliError, Status};
use retold_wire::RecordedChance;

/// What `--chance` makes the run's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ChanceArg {
    /// The draws of `random` and `numpy.random`.
    Draws,
    /// Also `uuid4`.
    Uuid,
}

impl ChanceArg {
    /// The chance of a new run.
    ///
    /// # Errors
    /// [`CliError`] if the system cannot provide random bytes.
    pub(super) fn recorded(self) -> Result<RecordedChance, CliError> {
        RecordedChance::random(self == ChanceArg::Uuid).map_err(|error| {
            CliError::new(Status::Io, format!("the system cannot provide random bytes: {error}"))
        })
    }
}

/// What to say if no Python process of a program took the chance of the run.
pub(super) const UNREACHED: &str = "warning: no Python process of the program took its draws from the run: --chance reaches neither other \
     languages nor Python before 3.8, or with -I, -E or -S\n";
