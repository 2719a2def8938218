//! `retold generate`: what this program knows about itself, in the form that shells, readers of manuals and editors take.

mod completions;
mod man;
mod schema;

use clap::Subcommand;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;

/// Write completions for a shell, manual pages, or the schema of a config.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: GenerateCommand,
}

#[derive(Debug, Subcommand)]
enum GenerateCommand {
    Completions(completions::Args),
    Man(man::Args),
    Schema(schema::Args),
}

pub(crate) fn run(args: Args, global: &Global<'_>, output: &Output) -> Result<Status, CliError> {
    match args.what {
        GenerateCommand::Completions(args) => completions::run(args, global, output),
        GenerateCommand::Man(args) => man::run(args, global, output),
        GenerateCommand::Schema(args) => schema::run(args, global, output),
    }
}
