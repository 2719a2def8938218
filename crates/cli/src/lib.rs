//! The command line of a program with studies: the only place that prints, reads the environment, or exits.
//!
//! One file a command: its arguments and its function. Exit codes are in [`Status`]. What studies there are is up to
//! the program, which hands them to [`main`] as a [`Catalogue`]; the program `retold` has those of `program`.

mod abandon;
mod again;
mod audit;
mod backup;
mod check;
mod error;
mod export;
mod folder;
mod fork;
mod head;
mod import;
mod limits;
mod list;
mod live;
mod model;
mod output;
mod outputs;
mod parse;
mod parser;
mod play;
#[cfg(feature = "program")]
pub mod program;
mod progress;
mod reenact;
mod rehearse;
mod replay;
mod resume;
mod run;
mod select;
mod session;
mod show;
mod signal;
mod snapshot;
mod unfinished;
mod verify;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use error::CliError;
pub use error::Status;
use output::Output;

use retold::log::SqliteOptions;
use retold_study::studies::{Clash, Registration, Studies};

/// Record, replay and re-parse LLM experiments.
///
/// Every request to a model and every answer is an event in an append-only log. A run survives a crash
/// without paying twice, replays offline, and can be re-parsed with a better parser years later.
///
/// Exit codes: 0 fine; 1 a difference was found (divergence, flips, a damaged log); 2 wrong usage or
/// input; 3 the log or a file could not be read or written; 4 the model failed, a limit of the run was
/// reached, or nobody got to its end; 130 interrupted, by Ctrl-C, SIGTERM or a terminal
/// that is closed (SIGHUP).
///
/// Colours are written to terminals only, and never if NO_COLOR is set.
#[derive(Debug, Parser)]
#[command(name = "retold", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, clap::Args)]
struct GlobalArgs {
    /// The log file; `run` and `import` make it if there is none.
    #[arg(
        long,
        global = true,
        env = "RETOLD_LOG",
        default_value = "retold.db",
        value_name = "PATH"
    )]
    log: PathBuf,
    /// How long to wait when another program keeps the log locked.
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 30)]
    wait: u64,
    /// Print one JSON object instead of text; an error is one, too: {"error":{"message","hints","exit_code"}}.
    #[arg(long, global = true)]
    json: bool,
    /// Show no progress.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Say more on stderr: -v warnings of retries, -vv every attempt, -vvv everything.
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// What every command is given: the options, and what the program knows.
struct Global<'a> {
    log: PathBuf,
    wait: u64,
    json: bool,
    quiet: bool,
    studies: &'a Studies,
}

impl<'a> Global<'a> {
    fn new(args: GlobalArgs, studies: &'a Studies) -> Self {
        let GlobalArgs { log, wait, json, quiet, verbose: _ } = args;
        Global { log, wait, json, quiet, studies }
    }
}

impl Global<'_> {
    /// How the log is opened.
    fn sqlite(&self) -> SqliteOptions {
        let busy = Some(Duration::from_secs(self.wait.min(86_400)));
        SqliteOptions { busy, ..SqliteOptions::default() }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Resume(resume::Args),
    Abandon(abandon::Args),
    Fork(fork::Args),
    Play(play::Args),
    Replay(replay::Args),
    Check(check::Args),
    Parse(parse::Args),
    Snapshot(snapshot::Args),
    Audit(audit::Args),
    Log(list::Args),
    Show(show::Args),
    Outputs(outputs::Args),
    Verify(verify::Args),
    Head(head::Args),
    Backup(backup::Args),
    Export(export::Args),
    Import(import::Args),
}

/// What a program knows: its studies.
pub struct Catalogue {
    studies: Studies,
    commands: Vec<OwnCommand>,
}

impl Catalogue {
    /// The studies of a program; their parsers are listed in this order.
    ///
    /// # Errors
    /// [`Clash`] if two studies, or two of their parsers, have one name.
    pub fn new(
        studies: impl IntoIterator<Item = &'static dyn Registration>,
    ) -> Result<Self, Clash> {
        Ok(Catalogue { studies: Studies::new(studies)?, commands: Vec::new() })
    }

    /// The studies.
    pub fn studies(&self) -> &Studies {
        &self.studies
    }
}

/// A command that only this program has.
struct OwnCommand {
    command: clap::Command,
    run: fn(&ArgMatches, &Global<'_>, &Output) -> Result<Status, CliError>,
}

/// What the arguments ask for.
enum Asked<'a> {
    /// A command that every program has.
    Common(Box<Command>),
    /// One that only this program has.
    Own(&'a OwnCommand, ArgMatches),
}

/// Reads the arguments of the process.
fn arguments(catalogue: &Catalogue) -> Result<(GlobalArgs, Asked<'_>), clap::Error> {
    let mut command = Cli::command();
    if !catalogue.studies.iter().any(|study| study.play().is_some()) {
        command = command.mut_subcommand("play", |play| play.hide(true));
    }
    for own in &catalogue.commands {
        command = command.subcommand(own.command.clone());
    }
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    if let Some((name, given)) = matches.subcommand()
        && let Some(own) = catalogue.commands.iter().find(|own| own.command.get_name() == name)
    {
        let given = given.clone();
        let global = GlobalArgs::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
        return Ok((global, Asked::Own(own, given)));
    }
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command))?;
    Ok((cli.global, Asked::Common(Box::new(cli.command))))
}

/// Runs the program with the arguments of the process.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    let (global, asked) = match arguments(catalogue) {
        Ok(given) => given,
        Err(e) => {
            // Help and version are no errors.
            if !e.use_stderr() {
                let _ = e.print();
                return ExitCode::SUCCESS;
            }
            // An argument may be foreign text, too.
            let message = e.render().to_string();
            if std::env::args_os().any(|argument| argument == "--json") {
                let first = message.split("\n\n").next().unwrap_or_default();
                output::usage_error(first.strip_prefix("error: ").unwrap_or(first));
            }
            error::write_err(&message);
            return ExitCode::from(Status::Usage as u8);
        }
    };
    start_tracing(global.verbose);
    let global = &Global::new(global, &catalogue.studies);
    let output = Output::new(global);
    let result = match asked {
        Asked::Own(own, given) => (own.run)(&given, global, &output),
        Asked::Common(command) => run_common(*command, global, &output),
    };
    let status = result.unwrap_or_else(|error| {
        output.error(&error);
        error.print();
        error.status
    });
    ExitCode::from(status as u8)
}

fn run_common(command: Command, global: &Global<'_>, output: &Output) -> Result<Status, CliError> {
    match command {
        Command::Run(args) => run::run(args, global, output),
        Command::Resume(args) => resume::run(args, global, output),
        Command::Abandon(args) => abandon::run(args, global, output),
        Command::Fork(args) => fork::run(args, global, output),
        Command::Play(args) => play::run(args, global, output),
        Command::Replay(args) => replay::run(args, global, output),
        Command::Check(args) => check::run(args, global, output),
        Command::Snapshot(args) => snapshot::run(args, global, output),
        Command::Parse(args) => parse::run(args, global, output),
        Command::Audit(args) => audit::run(args, global, output),
        Command::Log(args) => list::run(args, global, output),
        Command::Outputs(args) => outputs::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Verify(args) => verify::run(args, global, output),
        Command::Head(args) => head::run(args, global, output),
        Command::Backup(args) => backup::run(args, global, output),
        Command::Export(args) => export::run(args, global, output),
        Command::Import(args) => import::run(args, global, output),
    }
}

/// Sends what the library traces to stderr, its own messages only.
fn start_tracing(verbose: u8) {
    let filter = match verbose {
        // What someone who wrote a config should know in any case.
        0 => "retold::study=warn,retold::outages=warn",
        1 => "retold=warn",
        2 => "retold=debug",
        // At the most verbose level the HTTP client speaks, too; it knows the key as sensitive.
        _ => "trace",
    };
    let to_stderr = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_ansi(verbose > 0 && colours())
        .with_writer(std::io::stderr);
    // A logger that is there already stays.
    let _ = match verbose {
        0 => to_stderr.without_time().with_target(false).compact().try_init(),
        _ => to_stderr.try_init(),
    };
}

/// Whether stderr may have colours: on a terminal, unless <https://no-color.org> is asked for.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}
