//! `retold backup`.

use std::path::PathBuf;

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::redaction;
use retold::log::{BackedUp, SqliteBackend};
use retold_archive::{Archive, bucket};

/// Copy the log to a new file, even while it is being written, and verify the copy.
///
/// The copy is a single file with the whole log at one moment. (A log that is copied by hand while
/// a program has it open lacks what is still in its -wal file.) A log that does not verify is not
/// copied, and neither is an empty one. The log and the files beside it are left as they are.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The new file. Existing files are never overwritten.
    file: PathBuf,
    /// Also copy the keys of --redact, to FILE-key. Without them, a replay of the copy does not find
    /// requests with a redacted value; with them, guesses at these values can be tested.
    #[arg(long)]
    with_key: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { file, with_key } = args;
    let shown = file.display().to_string();
    if file.symlink_metadata().is_ok() {
        return Err(CliError::usage(format!("{shown} already exists"))
            .hint("choose another name: a backup never overwrites anything"));
    }
    CliError::refuse_log(&file)?;
    if bucket(&global.log)?.is_some() {
        let message = format!("{} is not a file", global.log.display());
        return Err(CliError::usage(message)
            .hint("`retold copy --to FILE` copies its runs to a log in a file"));
    }
    let archive = Archive::open(&global.log, global.sqlite())?;
    if SqliteBackend::is_only_begun(&global.log) {
        let note = archive.note().unwrap_or_default();
        let message = format!("{}: {note}", global.log.display());
        return Err(CliError::usage(message).hint("nothing was copied: there is nothing in it"));
    }
    let known = redaction::keys(&global.log)?;
    let place = redaction::place(&file);
    if with_key && known.keys.is_empty() {
        let message =
            format!("there is no key file {}: nothing was redacted with --redact", known.place);
        return Err(CliError::usage(message).hint("leave out --with-key"));
    }
    if with_key && place.symlink_metadata().is_ok() {
        return Err(CliError::usage(format!("{} already exists", place.display()))
            .hint("choose another name: a backup never overwrites anything"));
    }
    // Neither the log nor anything beside it is changed, also if a process that was killed left events in its WAL.
    let copied = archive.backup(&file);
    let BackedUp { runs, bytes, ledger } = copied.map_err(|error| {
        let error = CliError::from(error);
        match error.status {
            // The rest can be saved run by run.
            Status::Difference => error.hint("`retold export RUN FILE` saves a run that is intact"),
            _ => error,
        }
    })?;
    if with_key {
        redaction::add(&file, &known.keys)?;
    }
    let key = with_key.then(|| place.display().to_string());
    if output.is_json() {
        output.object(&json!({"file": shown, "runs": runs, "bytes": bytes, "key_file": key,
            "head": ledger.hash}))?
    } else {
        output.text(&format!(
            "{} copied to {shown}, {} bytes, verified, ledger head {}\n{}",
            count_of(runs, "run"),
            group_digits(bytes),
            ledger.hash,
            match key {
                Some(key) => format!("the keys of --redact were copied to {key}\n"),
                None if known.keys.is_empty() => String::new(),
                None => format!(
                    "the keys of --redact were not copied, and are in {}: a replay of the copy does not find requests \
                     with a redacted value without them (--with-key copies them)\n",
                    known.place
                ),
            }
        ))?;
    }
    Ok(Status::Fine)
}
