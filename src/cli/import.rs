//! `retold import`.

use std::path::PathBuf;

use serde_json::json;

use super::Global;
use super::error::{CliError, Status};
use super::output::{Output, counted};
use super::run::new_run_id;
use crate::exchange::{Imported, import_exchanges, import_recording, is_recording, read_recording};
use crate::log::{SqliteBackend, SqliteOptions};
use crate::run::clock;

/// Take a recording or an exchanges file into the log: all of it, checked, or nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file (JSON Lines, plain or .gz or .zst).
    file: PathBuf,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let path = &args.file;
    let shown = path.display();
    if is_recording(path)? {
        // Read whole and checked before the log is touched.
        let recording = read_recording(path)?;
        let backend = SqliteBackend::open_or_create(&global.log, SqliteOptions::default())?;
        let Imported { added, known } = import_recording(&backend, &recording)?;
        let run = recording.run;
        match output.is_json() {
            true => output.object(&json!({"run": run, "events": added, "known": known}))?,
            false if added == 0 => {
                output.text(&format!("run {run} is in the log already, all of it\n"))?;
            }
            false => output.text(&format!(
                "run {run}: {} imported from {shown}\n\nnext:\n  retold replay {}\n",
                counted(added, "event"),
                run.short(8)
            ))?,
        }
        return Ok(Status::Fine);
    }
    let backend = SqliteBackend::open_or_create(&global.log, SqliteOptions::default())?;
    let run = new_run_id()?;
    let exchanges = import_exchanges(&backend, path, run, clock::now())?;
    match output.is_json() {
        true => output.object(&json!({"run": run, "exchanges": exchanges}))?,
        false => output.text(&format!(
            "run {run}: {} imported from {shown}\n",
            counted(exchanges, "exchange")
        ))?,
    }
    Ok(Status::Fine)
}
