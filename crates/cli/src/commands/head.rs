//! `retold head`.

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::select;
use retold::log::ledger::{Ledger, LedgerHead};
use retold::log::{Log, LogError, RunHead, deleted_runs};

/// Print the hash of the log's last ledger entry, so that you can store it elsewhere.
///
/// The ledger has an entry for each run that was started, resumed, finished or imported. Given this
/// hash, `retold verify --checkpoint HASH` later shows whether anything that is in the log now has
/// been removed or replaced.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let log = select::open_to_read(global)?;
    let mut reader = log.reader()?;
    let path = global.log.display();
    let Some(ledger) = Ledger::read(reader.as_mut())? else {
        let message =
            format!("{path} has no ledger yet: it was created by an older release of retold");
        return Err(CliError::usage(message)
            .hint("the next `retold run`, `resume` or `import` that writes to it adds one"));
    };
    if let Some(problem) = ledger.problems().first() {
        return Err(CliError::new(Status::Difference, format!("{path}: {problem}"))
            .hint("`retold verify` names everything that is damaged"));
    }
    let (LedgerHead { number, hash }, runs) = (ledger.head(), ledger.runs());
    if output.is_json() {
        output.object(&json!({"head": hash, "entries": number, "runs": runs}))?
    } else {
        let entries = match number {
            1 => "1 entry".to_owned(),
            n => format!("{n} entries"),
        };
        output.text(&format!("{hash}  {entries}, {}\n", counted(runs, "run")))?;
    }
    if is_damaged(&log, &ledger)? {
        return Err(CliError::new(Status::Difference, format!("{path} is damaged"))
            .hint("`retold verify` names everything that is damaged"));
    }
    Ok(Status::Fine)
}

/// Whether something is known to be missing or damaged without reading the events.
fn is_damaged(log: &Log, ledger: &Ledger) -> Result<bool, CliError> {
    let backend = log.backend().as_ref();
    let heads = match log.reader()?.runs() {
        Err(LogError::Damaged { .. }) => return Ok(true),
        heads => heads?,
    };
    let fits = |head: &RunHead| {
        let RunHead { run, head, .. } = head;
        ledger.doubt(*run).is_none() && ledger.missing_after(*run, head.seq).is_none()
    };
    Ok(backend.is_cut_off()
        || backend.damaged().is_some()
        || !backend.lost().is_empty()
        || !ledger.misfits(!heads.is_empty()).is_empty()
        || !heads.iter().all(fits)
        || !deleted_runs(backend)?.is_empty())
}
