//! `retold abandon`.

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::select::{self, RunSelection};
use retold::run::abandon;

/// End an unfinished run for good: it can never be resumed.
///
/// Its record is kept: it can be shown, replayed, exported and forked like any other run.
/// Abandoning is recorded as an event and cannot be undone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, its name, or `latest`.
    run: String,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let RunSelection { log, run } = select::run(global, &args.run)?;
    let tokio = tokio::runtime::Builder::new_current_thread().build();
    let tokio = tokio.map_err(|e| CliError::new(Status::Io, format!("no runtime: {e}")))?;
    let outcome_digest = tokio.block_on(abandon(&log, run))?;
    if output.is_json() {
        output.object(&json!({
            "run": run, "outcome": "abandoned", "outcome_digest": outcome_digest,
        }))?
    } else {
        let digest = outcome_digest
            .map_or_else(|| "none: it would cover nothing".to_owned(), |digest| digest.to_string());
        output.text(&format!("run {run} abandoned\noutcome digest {digest}\n"))?
    }
    Ok(Status::Fine)
}
