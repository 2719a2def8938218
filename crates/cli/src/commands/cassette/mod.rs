//! `retold cassette`: `review` shows what `pytest --retold=drift` found, and accepts it.

mod pending;
mod review;
mod words;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;

/// Review new answers to the requests of cassettes.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Review(review::Args),
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    match args.command {
        Command::Review(args) => review::run(args, global, output),
    }
}
