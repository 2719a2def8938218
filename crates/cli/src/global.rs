//! What every command receives: the common options, and the studies of the program.

use std::path::PathBuf;
use std::time::Duration;

use crate::catalogue::Catalogue;
use crate::error::CliError;
use retold::log::{LogError, SharedBackend, SqliteOptions};
use retold_archive::{bucket, open_or_create_store};
use retold_study::studies::Studies;

/// Options of every command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct GlobalArgs {
    /// The log: a file, or a bucket or shared folder by its URL. What records or imports creates it.
    ///
    /// URLs are s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX and file:///FOLDER.
    #[arg(
        long,
        global = true,
        env = "RETOLD_LOG",
        default_value = "retold.db",
        value_name = "PATH"
    )]
    pub(crate) log: PathBuf,
    /// How long to wait while another program has the log locked.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30)]
    pub(crate) log_wait: u64,
    /// Print one JSON object instead of text. Errors are JSON as well:
    /// {"error":{"message","hints","exit_code"}}.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show no progress.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print more on stderr: -v warnings about retries, -vv every attempt, -vvv everything.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// What every command receives: the options, and what the program consists of.
pub(crate) struct Global<'a> {
    pub(crate) log: PathBuf,
    pub(crate) log_wait: u64,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) studies: &'a Studies,
    /// The whole program.
    pub(crate) catalogue: &'a Catalogue,
}

impl<'a> Global<'a> {
    pub(crate) fn new(args: GlobalArgs, catalogue: &'a Catalogue) -> Self {
        let GlobalArgs { log, log_wait, json, quiet, verbose: _ } = args;
        Global { log, log_wait, json, quiet, studies: catalogue.studies(), catalogue }
    }
}

impl Global<'_> {
    /// The log, to be written; it is created if there is none.
    pub(crate) fn open_or_create(&self) -> Result<SharedBackend, LogError> {
        open_or_create_store(&self.log, self.sqlite())
    }

    /// The same with a limit on the bytes that it may have.
    pub(crate) fn open_or_create_within(
        &self,
        log_limit: Option<u64>,
    ) -> Result<SharedBackend, CliError> {
        if log_limit.is_some() && bucket(&self.log)?.is_some() {
            let message = format!(
                "--log-limit is for a log in a file, and {} is not one",
                self.log.display()
            );
            return Err(CliError::usage(message).hint("limit the bucket or the folder itself"));
        }
        let options = SqliteOptions { max_bytes: log_limit, ..self.sqlite() };
        Ok(open_or_create_store(&self.log, options)?)
    }

    /// How a log in a file is opened.
    pub(crate) fn sqlite(&self) -> SqliteOptions {
        let busy = Some(Duration::from_secs(self.log_wait.min(86_400)));
        SqliteOptions { busy, ..SqliteOptions::default() }
    }
}
