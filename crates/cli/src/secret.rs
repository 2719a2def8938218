//! A secret that a command makes up for its server.

use crate::error::{CliError, Status};
use retold_wire::Secret;

/// A new one.
pub(crate) fn new_secret() -> Result<Secret, CliError> {
    Secret::random().map_err(|e| {
        CliError::new(Status::Io, format!("the system cannot provide random bytes: {e}"))
    })
}
