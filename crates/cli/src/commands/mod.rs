//! The commands that every program has, one file or folder each: its arguments and its function.
//!
//! Commands do not use each other. What several of them need is next to this folder: `runs`
//! executes, `views` prints.

mod audit;
mod cassette;
mod check;
mod copy;
mod diff;
mod export;
mod fork;
mod generate;
mod import;
mod init;
mod log;
mod plan;
mod proxy;
mod record;
mod replay;
mod report;
mod run;
mod score;
mod serve;
mod show;
mod stats;
pub(crate) mod study;
mod table;
mod verify;

use clap::Subcommand;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Fork(fork::Args),
    Plan(plan::Args),
    Record(record::Args),
    Replay(replay::Args),
    Proxy(proxy::Args),
    Check(check::Args),
    Score(score::Args),
    Diff(diff::Args),
    Audit(audit::Args),
    Log(log::Args),
    Show(show::Args),
    Stats(stats::Args),
    Table(table::Args),
    Serve(serve::Args),
    Report(report::Args),
    Verify(verify::Args),
    Copy(copy::Args),
    Export(export::Args),
    Import(import::Args),
    Cassette(cassette::Args),
    Init(init::Args),
    Generate(generate::Args),
}

/// Executes a command.
pub(crate) fn run(
    command: Command,
    global: &Global<'_>,
    output: &Output,
) -> Result<Status, CliError> {
    match command {
        Command::Run(args) => run::run(args, global, output),
        Command::Fork(args) => fork::run(args, global, output),
        Command::Plan(args) => plan::run(args, global, output),
        Command::Record(args) => record::run(args, global),
        Command::Proxy(args) => proxy::run(args, global, output),
        Command::Replay(args) => replay::run(args, global, output),
        Command::Check(args) => check::run(args, global, output),
        Command::Score(args) => score::run(args, global, output),
        Command::Diff(args) => diff::run(args, global, output),
        Command::Audit(args) => audit::run(args, global, output),
        Command::Log(args) => log::run(args, global, output),
        Command::Report(args) => report::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Stats(args) => stats::run(args, global, output),
        Command::Table(args) => table::run(args, global, output),
        Command::Serve(args) => serve::run(args, global, output),
        Command::Verify(args) => verify::run(args, global, output),
        Command::Copy(args) => copy::run(args, global, output),
        Command::Export(args) => export::run(args, global, output),
        Command::Import(args) => import::run(args, global, output),
        Command::Cassette(args) => cassette::run(args, global, output),
        Command::Init(args) => init::run(args, global, output),
        Command::Generate(args) => generate::run(args, global, output),
    }
}
