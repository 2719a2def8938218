//! `retold backup`.

use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted, grouped};
use retold::log::{BackedUp, SqliteBackend};

/// Copy the log to a new file while others may be writing to it, and verify the copy.
///
/// The copy is the whole log at one moment, in one file. (A log that is copied by hand while a program has it
/// open lacks what is still in its -wal.) A log that does not verify is not copied.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The new file. Nothing is overwritten.
    file: PathBuf,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { file } = args;
    let shown = file.display().to_string();
    if file.symlink_metadata().is_ok() {
        return Err(CliError::usage(format!("{shown} exists already"))
            .hint("give another name: a backup never overwrites anything"));
    }
    let backend = SqliteBackend::open(&global.log, global.sqlite())?;
    let BackedUp { runs, bytes, ledger } = backend.backup(&file)?;
    match output.is_json() {
        true => output.object(&json!({"file": shown, "runs": runs, "bytes": bytes,
            "head": ledger.map(|ledger| ledger.hash)}))?,
        false => {
            let head = ledger.map(|ledger| format!(", ledger head {}", ledger.hash));
            output.text(&format!(
                "{} copied to {shown}, {} bytes, verified{}\n",
                counted(runs, "run"),
                grouped(bytes),
                head.unwrap_or_default()
            ))?;
        }
    }
    Ok(Status::Fine)
}
