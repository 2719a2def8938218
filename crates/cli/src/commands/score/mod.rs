//! `retold score`: more decisions about recorded answers, by people and by models, and how well those agree who decided.

mod agreement;
mod judge;
mod judged;
mod label;

use clap::Subcommand;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;

/// Let people or a model decide about answers, and see how well they agree.
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    by: ScoreCommand,
}

#[derive(Debug, Subcommand)]
enum ScoreCommand {
    Label(label::Args),
    Judge(judge::Args),
    Agreement(agreement::Args),
}

pub(crate) fn run(args: Args, global: &Global<'_>, output: &Output) -> Result<Status, CliError> {
    match args.by {
        ScoreCommand::Label(args) => label::run(args, global, output),
        ScoreCommand::Judge(args) => judge::run(args, global, output),
        ScoreCommand::Agreement(args) => agreement::run(args, global, output),
    }
}
