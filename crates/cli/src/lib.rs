//! The command line of a program with studies: the only part that prints, reads the environment, or
//! exits.
//!
//! `commands` has one file per command, `runs` executes, and `views` has what several commands
//! print. Exit codes are in [`Status`]. The program decides which studies there are, and passes
//! them to [`main`] as a [`Catalogue`]; those of the program `retold` are in `program`.

mod again;
mod catalogue;
mod commands;
mod error;
mod gate;
mod global;
mod keeping;
mod limits;
mod model;
mod output;
mod parser;
#[cfg(feature = "program")]
pub mod program;
mod progress;
mod redaction;
mod run_id;
mod runs;
mod seal;
mod search;
mod select;
mod signal;
mod views;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};

pub use crate::catalogue::Catalogue;
pub use crate::error::Status;
/// For [`Catalogue::with_command`].
pub use clap;

use crate::catalogue::OwnCommand;
use crate::commands::Command;
use crate::global::{Global, GlobalArgs};
use crate::output::Output;

/// Record, replay and re-parse LLM experiments.
///
/// Every request to a model and every answer is an event in an append-only log. After a crash, a
/// run continues without paying again for any answer that had arrived; it can be replayed offline,
/// and parsed again with a better parser years later.
///
/// Exit codes: 0 success; 1 a difference was found (divergence, flips, a damaged log); 2 wrong
/// usage or input; 3 the log or a file could not be read or written; 4 the model failed, a limit of
/// the run was reached, or no participant finished; 130 interrupted by Ctrl-C, SIGTERM or a closing
/// terminal (SIGHUP). `record`, and `replay`, `resume` and `fork` with a command after --, end with the exit code of that
/// command.
///
/// Colours are only used on terminals, and never if NO_COLOR is set.
#[derive(Debug, Parser)]
#[command(name = "retold", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// The command that the arguments ask for.
enum Invocation<'a> {
    /// A command that every program has.
    Common(Box<Command>),
    /// A command that only this program has.
    Own(&'a OwnCommand, ArgMatches),
}

/// Reads the arguments of the process.
fn arguments(catalogue: &Catalogue) -> Result<(GlobalArgs, Invocation<'_>), clap::Error> {
    let program = again::program();
    let mut command = renamed(Cli::command().display_name(&program).bin_name(&program), &program);
    if !catalogue.studies().iter().any(|study| study.play().is_some()) {
        command = command.mut_subcommand("play", |play| play.hide(true));
    }
    for own in &catalogue.commands {
        command = command.subcommand(own.command.clone());
    }
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    again::on_log(&matches);
    if let Some((name, given)) = matches.subcommand()
        && let Some(own) = catalogue.commands.iter().find(|own| own.command.get_name() == name)
    {
        let given = given.clone();
        let global = GlobalArgs::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
        return Ok((global, Invocation::Own(own, given)));
    }
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command))?;
    Ok((cli.global, Invocation::Common(Box::new(cli.command))))
}

/// The help of a command for a program of another name: commands in it are that program's.
fn renamed(command: clap::Command, program: &str) -> clap::Command {
    if program == "retold" {
        return command;
    }
    let theirs = |text: Option<&StyledStr>| {
        text.map(|text| text.to_string().replace("`retold ", &format!("`{program} ")))
    };
    let (about, long_about) = (theirs(command.get_about()), theirs(command.get_long_about()));
    let command = about.into_iter().fold(command, |command, about| command.about(about));
    let command = long_about.into_iter().fold(command, |command, about| command.long_about(about));
    let command = command.mut_args(|arg| {
        let (help, long_help) = (theirs(arg.get_help()), theirs(arg.get_long_help()));
        let arg = help.into_iter().fold(arg, |arg, help| arg.help(help));
        long_help.into_iter().fold(arg, |arg, help| arg.long_help(help))
    });
    command.mut_subcommands(|command| renamed(command, program))
}

/// Runs the program with the arguments of the process.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    let (global, asked) = match arguments(catalogue) {
        Ok(given) => given,
        Err(e) => {
            // Help and version are not errors.
            if !e.use_stderr() {
                let _ = e.print();
                return ExitCode::SUCCESS;
            }
            // Arguments may be foreign text as well.
            let message = e.render().to_string();
            if std::env::args_os().any(|argument| argument == "--json") {
                let first = message.split_once("\n\n").map_or(&*message, |(first, _)| first);
                output::usage_error(first.strip_prefix("error: ").unwrap_or(first));
            }
            error::write_err(&message);
            return ExitCode::from(Status::Usage.code());
        }
    };
    start_tracing(global.verbose);
    let global = &Global::new(global, catalogue.studies());
    let output = Output::new(global);
    let result = match asked {
        Invocation::Own(own, given) => (own.run)(&given, global, &output),
        Invocation::Common(command) => commands::run(*command, global, &output),
    };
    let status = result.unwrap_or_else(|error| {
        output.error(&error);
        error.print();
        error.status
    });
    ExitCode::from(status.code())
}

/// Sends the library's trace messages, but not those of other crates, to stderr.
fn start_tracing(verbose: u8) {
    let filter = match verbose {
        // Messages that the author of a config should always see.
        0 => "retold::study=warn,retold::outages=warn",
        1 => "retold=warn",
        2 => "retold=debug",
        // At the most verbose level, the HTTP client also logs; it treats the key as sensitive.
        _ => "trace",
    };
    let to_stderr = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_ansi(verbose > 0 && colours())
        .with_writer(std::io::stderr);
    // An already installed logger is kept.
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
