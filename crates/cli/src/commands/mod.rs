//! The commands that every program has, one file or folder each: its arguments and its function.
//!
//! Commands do not use each other. What several of them need is next to this folder: `runs`
//! executes, `views` prints.

mod abandon;
mod agreement;
mod audit;
mod backup;
mod cassette;
mod check;
mod compact;
mod completions;
mod copy;
mod diff;
mod drift;
mod export;
mod fork;
mod import;
mod init;
mod judge;
mod label;
mod log;
mod man;
mod merge;
mod plan;
mod proxy;
mod record;
mod replay;
mod report;
mod run;
mod schema;
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
    Abandon(abandon::Args),
    Fork(fork::Args),
    Merge(merge::Args),
    Plan(plan::Args),
    Record(record::Args),
    Replay(replay::Args),
    Proxy(proxy::Args),
    Check(check::Args),
    Judge(judge::Args),
    Label(label::Args),
    Agreement(agreement::Args),
    Diff(diff::Args),
    Audit(audit::Args),
    Log(log::Args),
    Show(show::Args),
    Stats(stats::Args),
    Table(table::Args),
    Serve(serve::Args),
    Report(report::Args),
    Verify(verify::Args),
    Backup(backup::Args),
    Copy(copy::Args),
    Compact(compact::Args),
    Export(export::Args),
    Import(import::Args),
    Cassette(cassette::Args),
    Drift(drift::Args),
    Init(init::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Executes a command.
pub(crate) fn run(
    command: Command,
    global: &Global<'_>,
    output: &Output,
) -> Result<Status, CliError> {
    match command {
        Command::Run(args) => run::run(args, global, output),
        Command::Abandon(args) => abandon::run(args, global, output),
        Command::Fork(args) => fork::run(args, global, output),
        Command::Merge(args) => merge::run(args, global, output),
        Command::Plan(args) => plan::run(args, global, output),
        Command::Record(args) => record::run(args, global),
        Command::Proxy(args) => proxy::run(args, global, output),
        Command::Replay(args) => replay::run(args, global, output),
        Command::Check(args) => check::run(args, global, output),
        Command::Judge(args) => judge::run(args, global, output),
        Command::Label(args) => label::run(args, global, output),
        Command::Agreement(args) => agreement::run(args, global, output),
        Command::Diff(args) => diff::run(args, global, output),
        Command::Audit(args) => audit::run(args, global, output),
        Command::Log(args) => log::run(args, global, output),
        Command::Report(args) => report::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Stats(args) => stats::run(args, global, output),
        Command::Table(args) => table::run(args, global, output),
        Command::Serve(args) => serve::run(args, global, output),
        Command::Verify(args) => verify::run(args, global, output),
        Command::Backup(args) => backup::run(args, global, output),
        Command::Copy(args) => copy::run(args, global, output),
        Command::Compact(args) => compact::run(args, global, output),
        Command::Export(args) => export::run(args, global, output),
        Command::Import(args) => import::run(args, global, output),
        Command::Cassette(args) => cassette::run(args, global, output),
        Command::Drift(args) => drift::run(args, global),
        Command::Init(args) => init::run(args, global, output),
        Command::Schema(args) => schema::run(args, global, output),
        Command::Completions(args) => completions::run(args, global, output),
        Command::Man(args) => man::run(args, global, output),
    }
}
