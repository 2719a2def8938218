//! `retold generate completions`: what makes a shell complete commands, options and their values.

mod fish;
mod known_values;

use clap::ValueEnum;
use clap_complete::{Shell, generate};

use crate::again;
use crate::command_line::command_line;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use known_values::with_known_values;

/// Print what makes bash, zsh or fish complete commands and options.
///
/// Each shell reads it from a place of its own:
///
/// bash: `retold generate completions bash > ~/.local/share/bash-completion/completions/retold`
///
/// zsh: `retold generate completions zsh > ~/.zfunc/_retold`, with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
///
/// fish: `retold generate completions fish > ~/.config/fish/completions/retold.fish`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: ShellName,
}

/// The shells whose completions are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShellName {
    /// GNU bash, from version 4.4 on.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly interactive shell.
    Fish,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let shell = match args.shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
    };
    let program = again::program();
    let mut command = with_known_values(command_line(global.catalogue, &program), global);
    let mut script = Vec::new();
    generate(shell, &mut command, program.as_str(), &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Fish {
        script = fish::complete(&script, &command, &program);
    }
    output.is_a_document();
    output.raw(&script)?;
    Ok(Status::Fine)
}
