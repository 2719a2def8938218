//! The random parts of a new run: its id, and a seed that nobody chose.

use crate::error::{CliError, Status};
use retold::id::RunId;

/// A new id.
pub(crate) fn new_run_id() -> Result<RunId, CliError> {
    RunId::random().map_err(|e| {
        CliError::new(Status::Io, format!("the system cannot provide random bytes: {e}"))
    })
}

/// A seed for a run whose config names none: short enough to be typed.
pub(crate) fn random_seed() -> Result<u64, CliError> {
    let RunId(bytes) = new_run_id()?;
    Ok(bytes[..4].iter().fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
}
