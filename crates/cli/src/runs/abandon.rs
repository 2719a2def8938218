//! Ends an unfinished run for good.

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runtime;
use crate::select::{self, RunSelection};
use retold::id::{OutcomeDigest, RunId};
use retold::log::Log;

/// Records that the run with a name is abandoned, and says so.
pub(crate) fn abandon(name: &str, global: &Global, output: &Output) -> Result<Status, CliError> {
    let RunSelection { log, run } = select::run(global, name)?;
    let outcome_digest = end_run(&log, run)?;
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

/// Records that a run is abandoned: it can never be resumed.
pub(crate) fn end_run(log: &Log, run: RunId) -> Result<Option<OutcomeDigest>, CliError> {
    let tokio = runtime::of_this_thread()?;
    Ok(tokio.block_on(retold::run::abandon(log, run))?)
}
