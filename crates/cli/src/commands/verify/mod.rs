//! `retold verify`: `runs` recomputes hash chains, `head` prints that of the ledger, `seal` signs
//! the head of a run (`ssh_seal`) and has its time signed by others (`time_stamp`), which `checked_seal` checks, and `proof`
//! checks a proof without the log.

mod checked_seal;
mod head;
mod proof;
mod runs;
mod seal;
mod ssh_seal;
mod time_stamp;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;

/// Verify runs and the log; sign a run, or check a proof.
///
/// Recomputes the hash chains and the ledger, and reports the first event of each run that is not as
/// it was written, and every run that was deleted, truncated or added without retold. Exit code 1 if
/// anything is wrong.
///
/// Anyone who can write to the file can also forge a ledger that matches what is left. This can only
/// be detected with a hash that is stored elsewhere: pass one that `retold verify head` printed as
/// --checkpoint, or the former head of a run as --head.
///
/// The result for a run of more than 100,000 events is kept in your cache until the log's file
/// changes: the commands that show such a run need not verify it again then. `verify` itself always
/// reads everything.
///
/// A run that is named like one of the commands below is given after --: `retold verify -- head`.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    runs: runs::RunsArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Head(head::Args),
    Seal(seal::Args),
    Proof(proof::Args),
}

impl Command {
    fn name(&self) -> &'static str {
        match self {
            Command::Head(_) => "head",
            Command::Seal(_) => "seal",
            Command::Proof(_) => "proof",
        }
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, command } = args;
    let Some(command) = command else { return runs::run(runs, global, output) };
    if runs.is_given() {
        let name = command.name();
        return Err(CliError::usage(format!(
            "`{name}` is a command of verify: put its run and its options after it"
        ))
        .hint(format!("`retold verify {name} --help` lists them"))
        .hint(format!("for a run of that name: `retold verify -- {name}`")));
    }
    match command {
        Command::Head(args) => head::run(args, global, output),
        Command::Seal(args) => seal::run(args, global, output),
        Command::Proof(args) => proof::run(args, output),
    }
}
