//! `retold study`: the commands that only one study has. A study that a person can take part in has
//! `play`; a program adds others to its catalogue.

mod play;

use retold_study::studies::Studies;

use crate::catalogue::OwnCommand;

/// The name of this command.
pub(crate) const NAME: &str = "study";

/// `play`, for each study that has it.
pub(crate) fn plays(studies: &Studies) -> impl Iterator<Item = OwnCommand> {
    studies.iter().filter(|study| study.play().is_some()).map(play::command)
}

/// The command, with a command for each study that has any; `None` if no study has.
pub(crate) fn command<'a>(
    owned: impl Iterator<Item = (&'static str, &'a OwnCommand)>,
) -> Option<clap::Command> {
    let mut studies: Vec<(&str, Vec<clap::Command>)> = Vec::new();
    for (study, own) in owned {
        match studies.iter_mut().find(|(name, _)| *name == study) {
            Some((_, commands)) => commands.push(own.command.clone()),
            None => studies.push((study, vec![own.command.clone()])),
        }
    }
    let of_study = |(study, commands): (&'static str, Vec<clap::Command>)| {
        let names: Vec<&str> = commands.iter().map(clap::Command::get_name).collect();
        let about = format!("The commands of the study {study}: {}", names.join(", "));
        require_subcommand(clap::Command::new(study).about(about)).subcommands(commands)
    };
    let about = "Use the commands that only one study has";
    let command = require_subcommand(clap::Command::new(NAME).about(about));
    (!studies.is_empty()).then(|| command.subcommands(studies.into_iter().map(of_study)))
}

/// A command that does nothing by itself.
fn require_subcommand(command: clap::Command) -> clap::Command {
    command.subcommand_required(true).arg_required_else_help(true).disable_help_subcommand(true)
}
