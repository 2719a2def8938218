//! `retold verify head`.

use serde_json::json;

use crate::error::{CliError, NAMES_DAMAGE, Status};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::select;
use retold::id::RunId;
use retold::log::ledger::{Ledger, LedgerHead};
use retold::log::{Log, LogError};
use retold_archive::{is_cut_off, log_findings, missing_end};

/// Print the hash of the log's last ledger entry, to be stored elsewhere.
///
/// The ledger has an entry for each run that was started, resumed, finished or imported. Given this
/// hash, `retold verify --checkpoint HASH` later shows whether anything that is in the log now has
/// been removed or replaced.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let log = select::open_to_read(global)?;
    let mut reader = log.backend().reader()?;
    let path = global.log.display();
    let ledger = Ledger::read(reader.as_mut())?;
    if let Some(fault) = ledger.faults().first() {
        return Err(
            CliError::new(Status::Difference, format!("{path}: {fault}")).hint(NAMES_DAMAGE)
        );
    }
    let (LedgerHead { number, hash }, runs) = (ledger.head(), ledger.runs());
    if output.is_json() {
        output.object(&json!({"head": hash, "entries": number, "runs": runs}))?
    } else {
        let entries = match number {
            1 => "1 entry".to_owned(),
            n => format!("{n} entries"),
        };
        output.text(&format!("{hash}  {entries}, {}\n", count_of(runs, "run")))?;
    }
    if is_damaged(&log)? {
        return Err(
            CliError::new(Status::Difference, format!("{path} is damaged")).hint(NAMES_DAMAGE)
        );
    }
    Ok(Status::Fine)
}

/// Whether something is known to be missing or damaged without reading the events.
fn is_damaged(log: &Log) -> Result<bool, CliError> {
    let backend = log.backend().as_ref();
    let mut reader = log.backend().reader()?;
    let heads = match reader.runs() {
        Err(LogError::Damaged { .. }) => return Ok(true),
        heads => heads?,
    };
    let runs: Vec<RunId> = heads.iter().map(|head| head.run).collect();
    let beside = log_findings(backend, reader.as_mut(), &runs, &[])?;
    if is_cut_off(backend) || !beside.is_empty() {
        return Ok(true);
    }
    let ends = heads.iter().map(|head| missing_end(backend, head.run, head.head.seq));
    Ok(ends.collect::<Result<Vec<_>, _>>()?.iter().any(Option::is_some))
}
