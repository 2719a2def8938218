//! The batches of a run that is executed: what is said of them, and what to do if they come no further.

use crate::error::{CliError, Status};
use crate::output::{count_of, group_digits};
use crate::progress::ProgressDisplay;
use retold::batch::{BatchError, BatchNews, BatchesOf, RunBatches, Settled, WaitingBatch, settle};
use retold::escaping::printable;
use retold::id::{RunId, Seq};
use retold::log::{Log, LogError};
use retold::model::FailureKind;
use retold::run::Stop;

/// Settles the batches of a run whose execution holds these questions.
pub(crate) async fn settle_batches(
    of: BatchesOf<'_>,
    held: &[Seq],
    display: &ProgressDisplay,
) -> Result<Settled, CliError> {
    let settled = settle(of, held, &mut |news| display.warning(&news_line(news))).await;
    settled.map_err(|error| batch_error(error, of.run))
}

/// The batches of a run that have not ended.
pub(crate) fn waiting(log: &Log, run: RunId) -> Result<Vec<WaitingBatch>, LogError> {
    let batches = RunBatches::read(log.reader()?.as_mut(), run)?;
    Ok(batches.open().map(|batch| batch.as_waiting()).collect())
}

/// A batch, in a line.
pub(crate) fn batch_line(batch: &WaitingBatch) -> String {
    let WaitingBatch { number, server, model, id, status, done, lines, expires } = batch;
    let id = id.as_ref().map(|id| format!(" ({})", printable(id, 80))).unwrap_or_default();
    let until = expires.map(|time| format!(", until {time}")).unwrap_or_default();
    format!(
        "batch {number}{id} of {} at {}: {}, {} of {} done{until}",
        printable(model, 60),
        printable(server, 100),
        printable(status, 40),
        group_digits(*done),
        count_of(*lines, "question"),
    )
}

/// What happened to a batch, as a line.
pub(crate) fn news_line(news: &BatchNews<'_>) -> String {
    let line = match news {
        BatchNews::Submitted(batch) | BatchNews::Seen(batch) => batch_line(batch),
        BatchNews::PerhapsSubmitted(batch) => format!(
            "batch {} is perhaps submitted: {} has a batch of as many questions that has not ended, and whose it is shows at its end; \
             nothing is submitted again before",
            batch.number,
            printable(&batch.server, 100)
        ),
        BatchNews::NotThereYet(batch) => {
            format!("batch {} has ended, and its results cannot be read yet", batch.number)
        }
        BatchNews::Collected { batch, answered, others } => {
            let others = match others {
                0 => String::new(),
                others => format!(", {} not", group_digits(*others)),
            };
            format!("batch {}: {} answered{others}", batch.number, group_digits(*answered))
        }
        BatchNews::Lost(batch) => format!(
            "warning: the results of batch {} are gone from {}: its questions fail (`retold fork RUN --retry-failed` asks them again)",
            batch.number,
            printable(&batch.server, 100)
        ),
        BatchNews::Differs { number, question } => format!(
            "warning: batch {number} has another result for question {question} than was recorded; the recorded one stays"
        ),
        BatchNews::Trouble { server, failure, wait } => format!(
            "{}: {failure}; trying again in {:.0} s",
            printable(server, 100),
            wait.as_secs_f64()
        ),
        _ => return String::new(),
    };
    line + "\n"
}

/// Why the batches of a run come no further, and what to do.
pub(crate) fn batch_error(error: BatchError, run: RunId) -> CliError {
    let name = run.short(8);
    let go_on = format!(
        "everything recorded so far is safe, and nothing is submitted twice: `retold run --resume {name}` continues"
    );
    match error {
        BatchError::Log(error) => CliError::from(Stop::Log(error)),
        BatchError::File(error) => {
            let message = format!("the lines of a batch cannot be written: {error}");
            CliError::new(Status::Io, message).hint(go_on)
        }
        BatchError::Server { ref failure, .. } if failure.status == Some(404) => {
            CliError::new(Status::Model, error.to_string())
                .hint("this server perhaps takes no batches: `--set model.tier=null` asks as usual")
                .hint(go_on)
        }
        BatchError::Server { ref failure, .. } if failure.kind == FailureKind::Unauthorized => {
            CliError::new(Status::Model, error.to_string())
                .hint("a batch is visible to the keys of the project that submitted it")
                .hint(go_on)
        }
        BatchError::Server { .. } => CliError::new(Status::Model, error.to_string()).hint(go_on),
        BatchError::Refused { .. } => CliError::new(Status::Model, error.to_string())
            .hint("nothing of it is paid for")
            .hint(format!(
                "fix what it says, then `retold run --resume {name}` plans its questions again"
            )),
        BatchError::Elsewhere { .. } => CliError::usage(error.to_string()).hint(
            "name the server that has it (--base-url, --endpoint): its answers are collected there",
        ),
        BatchError::OtherLines { .. } => CliError::usage(error.to_string())
            .hint("continue the run with the release of retold that planned it"),
        error => CliError::new(Status::Model, error.to_string()).hint(go_on),
    }
}
