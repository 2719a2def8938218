//! Cancels the batches that a run waits for.

use serde_json::json;

use crate::again::spell_commands;
use crate::error::{CliError, Status};
use crate::output::Output;
use crate::runs::batches::{batch_error, batch_line};
use crate::runs::pending::PendingRun;
use crate::runs::session::StudyExecution;
use crate::runtime;
use retold::batch::BatchesOf;
use retold::run::Signal;

/// Asks the servers of a run's batches to begin nothing more of them.
pub(crate) fn cancel(pending: PendingRun, output: &Output) -> Result<Status, CliError> {
    let StudyExecution { log, run, model, .. } = &pending.execution;
    let Some(model) = model else {
        return Err(CliError::usage(format!("run {run} waits for no batch")));
    };
    let of = BatchesOf {
        log,
        run: *run,
        model: model.as_ref(),
        poll: pending.execution.batch_wait.poll,
        waits: false,
        plans: false,
        signal: &Signal::default(),
    };
    let tokio = runtime::of_this_thread()?;
    let cancelled = tokio.block_on(retold::batch::cancel(&of));
    let cancelled = cancelled.map_err(|error| batch_error(error, *run))?;
    if cancelled.is_empty() {
        return Err(CliError::usage(format!("run {run} waits for no batch at a server"))
            .hint("`retold log` lists what runs wait for"));
    }
    if output.is_json() {
        let batches = cancelled.iter().map(|batch| json!({"batch": batch.number, "id": batch.id}));
        output.object(&json!({"run": run, "cancelled": batches.collect::<Vec<_>>()}))?;
        return Ok(Status::Fine);
    }
    let lines: String = cancelled.iter().map(|it| format!("{}\n", batch_line(it))).collect();
    output.text(&spell_commands(&format!(
        "asked to begin nothing more:\n{lines}\nnext:\n  `retold run --resume {}` collects what was answered by then, and plans the rest again; --set \
         model.tier=null asks it at once\n",
        run.short(8)
    )))?;
    Ok(Status::Fine)
}
