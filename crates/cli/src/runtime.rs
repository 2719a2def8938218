//! The runtimes in which commands wait.

use std::io;

use tokio::runtime::{Builder, Runtime};

use crate::error::{CliError, Status};

/// A runtime for what is done by this thread alone.
pub(crate) fn of_this_thread() -> Result<Runtime, CliError> {
    Builder::new_current_thread().enable_all().build().map_err(no_runtime)
}

/// A runtime with a thread for each core, for servers.
pub(crate) fn of_all_cores() -> Result<Runtime, CliError> {
    Builder::new_multi_thread().enable_all().build().map_err(no_runtime)
}

fn no_runtime(error: io::Error) -> CliError {
    CliError::new(Status::Io, format!("no runtime: {error}"))
}
