//! `retold head`.

use serde_json::json;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::select;
use retold::log::ledger::{Ledger, LedgerHead};

/// Print the hash of the log's last ledger entry, to be kept elsewhere.
///
/// The ledger has an entry for each run that was started, resumed, finished or imported. With this hash,
/// `retold verify --checkpoint HASH` shows later whether anything that the log holds now has been removed or
/// replaced, whoever did it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let log = select::open(global)?;
    let mut reader = log.reader()?;
    let path = global.log.display();
    let Some(ledger) = Ledger::read(reader.as_mut())? else {
        let message = format!("{path} has no ledger yet: an older release of retold made it");
        return Err(CliError::usage(message)
            .hint("the next `retold run`, `resume` or `import` that writes to it adds one"));
    };
    if let Some(problem) = ledger.problems().first() {
        return Err(CliError::new(Status::Difference, format!("{path}: {problem}"))
            .hint("`retold verify` names everything that is damaged"));
    }
    let (LedgerHead { number, hash }, runs) = (ledger.head(), ledger.runs());
    match output.is_json() {
        true => output.object(&json!({"head": hash, "entries": number, "runs": runs}))?,
        false => {
            let entries = match number {
                1 => "1 entry".to_owned(),
                n => format!("{n} entries"),
            };
            output.text(&format!("{hash}  {entries}, {}\n", counted(runs, "run")))?;
        }
    }
    Ok(Status::Fine)
}
