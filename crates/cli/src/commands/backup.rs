//! `retold backup`.

use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted, grouped};
use retold::log::{BackedUp, LogError, SqliteBackend};
use retold_serve::Source;

/// Copy the log to a new file, even while it is being written, and verify the copy.
///
/// The copy is a single file with the whole log at one moment. (A log that is copied by hand while
/// a program has it open lacks what is still in its -wal file.) A log that does not verify is not
/// copied.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The new file. Existing files are never overwritten.
    file: PathBuf,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { file } = args;
    let shown = file.display().to_string();
    if file.symlink_metadata().is_ok() {
        return Err(CliError::usage(format!("{shown} already exists"))
            .hint("choose another name: a backup never overwrites anything"));
    }
    let copied = whole(global)
        .and_then(|()| SqliteBackend::open(&global.log, global.sqlite())?.backup(&file));
    let BackedUp { runs, bytes, ledger } = copied.map_err(|error| {
        let error = CliError::from(error);
        match error.status {
            // The rest can be saved run by run.
            Status::Difference => error.hint("`retold export RUN FILE` saves a run that is intact"),
            _ => error,
        }
    })?;
    if output.is_json() {
        output.object(&json!({"file": shown, "runs": runs, "bytes": bytes,
            "head": ledger.map(|ledger| ledger.hash)}))?
    } else {
        let head = ledger.map(|ledger| format!(", ledger head {}", ledger.hash));
        output.text(&format!(
            "{} copied to {shown}, {} bytes, verified{}\n",
            counted(runs, "run"),
            grouped(bytes),
            head.unwrap_or_default()
        ))?;
    }
    Ok(Status::Fine)
}

/// Refuses a log that was cut off. SQLite would refuse it as well, but leave files beside it.
fn whole(global: &Global) -> Result<(), LogError> {
    match Source::file(&global.log, global.sqlite())?.cut_off() {
        None => Ok(()),
        Some((has, of)) => {
            let what = format!("the file was cut off: it has {has} of {of} bytes");
            Err(LogError::Damaged { path: global.log.display().to_string(), what })
        }
    }
}
