//! Ids of new runs.

use crate::error::{CliError, Status};
use retold::id::RunId;

/// A new id.
pub(crate) fn new_run_id() -> Result<RunId, CliError> {
    RunId::random().map_err(|e| {
        CliError::new(Status::Io, format!("the system cannot provide random bytes: {e}"))
    })
}
