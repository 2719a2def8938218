//! The command line of a program with studies: the only part that prints, reads the environment, or
//! exits.
//!
//! `commands` has one file per command, `runs` executes, and `views` has what several commands
//! print. Exit codes are in [`Status`]. The program decides which studies there are, and passes
//! them to [`main`] as a [`Catalogue`]; those of the program `retold` are in `program`.

mod again;
mod arguments;
mod catalogue;
mod colours;
mod command_line;
mod commands;
mod console;
mod document_file;
mod error;
mod gate;
mod global;
mod help;
mod label_argument;
mod limits;
mod log_place;
mod model;
mod output;
mod pager;
mod parser;
#[cfg(feature = "program")]
pub mod program;
mod progress;
mod redaction;
mod run_id;
mod runs;
mod runtime;
mod schema_names;
mod score_rows;
mod search;
mod secret;
mod select;
mod signal;
mod table_draft;
mod table_files;
mod umask;
mod views;

use std::process::ExitCode;

pub use crate::catalogue::Catalogue;
pub use crate::command_line::command_line;
pub use crate::error::Status;
/// For [`Catalogue::with_command`].
pub use clap;

use crate::arguments::{Invocation, arguments};
use crate::catalogue::OwnCommand;
use crate::global::Global;
use crate::output::Output;
use retold::leftovers;
use retold::scratch_folder::ScratchFolder;

/// Runs the program with the arguments of the process.
pub fn main(catalogue: &Catalogue) -> ExitCode {
    umask::restrict();
    ScratchFolder::remove_left();
    signal::tidy_up();
    let code = execute(catalogue);
    signal::give_way();
    leftovers::remove_all();
    code
}

fn execute(catalogue: &Catalogue) -> ExitCode {
    let plays: Vec<OwnCommand> = commands::study::plays(catalogue.studies()).collect();
    let own: Vec<&OwnCommand> = catalogue.commands.iter().chain(&plays).collect();
    let (global, asked) = match arguments(&own) {
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
    let global = &Global::new(global, catalogue);
    let output = Output::new(global.json, global.quiet);
    let result = match asked {
        Invocation::Own(own, given) => (own.run)(&given, global, &output),
        Invocation::Common(command) => commands::run(*command, global, &output),
    };
    let status = result.unwrap_or_else(|error| {
        signal::give_way();
        output.error(&error);
        // The pager has the screen until then.
        output.end();
        error.print();
        error.status
    });
    output.end();
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
        .with_ansi(verbose > 0 && colours::on_stderr())
        .with_writer(std::io::stderr);
    // An already installed logger is kept.
    let _ = match verbose {
        0 => to_stderr.without_time().with_target(false).compact().try_init(),
        _ => to_stderr.try_init(),
    };
}
