//! Reads the arguments of the process.

use clap::{ArgMatches, FromArgMatches};

use crate::again;
use crate::catalogue::OwnCommand;
use crate::command_line::{Cli, of_program};
use crate::commands::{self, Command};
use crate::global::GlobalArgs;

/// The command that the arguments ask for.
pub(crate) enum Invocation<'a> {
    /// A command that every program has.
    Common(Box<Command>),
    /// A command that only this program, or one of its studies, has.
    Own(&'a OwnCommand, ArgMatches),
}

/// The arguments of one of these commands, if one of them is given.
fn given_own<'a>(
    own: &[&'a OwnCommand],
    matches: &ArgMatches,
) -> Option<(&'a OwnCommand, ArgMatches)> {
    let (name, given) = matches.subcommand()?;
    let (study, (name, given)) = match name {
        commands::study::NAME => {
            let (study, given) = given.subcommand()?;
            (Some(study), given.subcommand()?)
        }
        _ => (None, (name, given)),
    };
    let is_given = |own: &&&OwnCommand| own.study == study && own.command.get_name() == name;
    own.iter().find(is_given).map(|own| (*own, given.clone()))
}

/// Reads the arguments of the process.
pub(crate) fn arguments<'a>(
    own: &[&'a OwnCommand],
) -> Result<(GlobalArgs, Invocation<'a>), clap::Error> {
    let program = again::program();
    let mut command = of_program(own, &program);
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    again::on_log(&matches);
    if let Some((own, given)) = given_own(own, &matches) {
        let global = GlobalArgs::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
        return Ok((global, Invocation::Own(own, given)));
    }
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command))?;
    Ok((cli.global, Invocation::Common(Box::new(cli.command))))
}
