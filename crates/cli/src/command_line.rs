//! The command line of a program: the commands that every program has, and its own.

use clap::builder::StyledStr;
use clap::{CommandFactory, Parser};

use crate::catalogue::{Catalogue, OwnCommand};
use crate::commands::{self, Command};
use crate::global::GlobalArgs;
use crate::help;

/// Record, replay and re-parse LLM experiments.
#[derive(Debug, Parser)]
#[command(name = "retold", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command line of a program with this name, for a reference of its commands, say.
pub fn command_line(catalogue: &Catalogue, program: &str) -> clap::Command {
    let plays: Vec<OwnCommand> = commands::study::plays(catalogue.studies()).collect();
    of_program(&catalogue.commands.iter().chain(&plays).collect::<Vec<_>>(), program)
}

/// The command line of a program with these commands of its own.
pub(crate) fn of_program(own: &[&OwnCommand], program: &str) -> clap::Command {
    let of_studies = own.iter().filter_map(|own| Some((own.study?, *own)));
    let of_program = own.iter().filter(|own| own.study.is_none());
    let of_program: Vec<clap::Command> = of_program.map(|own| own.command.clone()).collect();
    let command = Cli::command()
        .display_name(program)
        .bin_name(program)
        .subcommands(commands::study::command(of_studies));
    help::with_first_page(rename_program(command, program), &of_program, program)
}

/// The help of a command for a program of another name: commands in it are that program's.
fn rename_program(command: clap::Command, program: &str) -> clap::Command {
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
    command.mut_subcommands(|command| rename_program(command, program))
}
