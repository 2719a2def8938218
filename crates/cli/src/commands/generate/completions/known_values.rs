//! Arguments that take any text, but of which the program knows the values: shells offer these instead of files. What is
//! wrong with another text is said by the command itself.

use clap::Command;
use clap::builder::PossibleValuesParser;

use crate::global::Global;
use crate::schema_names::schema_names;
use retold::event::KINDS;

/// The command line in which these arguments have their values.
pub(super) fn with_known_values(command: Command, global: &Global) -> Command {
    let studies = || global.studies.iter();
    let with_example = studies().filter(|study| study.example_config().is_some());
    let parsers = global.studies.parsers();
    // Of each command and argument, which then cannot be misspelt here without a test that fails.
    let known: [(&[&str], &str, Vec<String>); 5] = [
        (&["check"], "parser", {
            let latest = parsers.families().map(|family| family.name.to_owned());
            latest.chain(parsers.all().map(|(name, version)| format!("{name}@{version}"))).collect()
        }),
        (&["init"], "experiment", with_example.map(|study| study.name().to_owned()).collect()),
        (&["log"], "kinds", KINDS.iter().map(|kind| (*kind).to_owned()).collect()),
        (&["run"], "experiment", studies().map(|study| study.name().to_owned()).collect()),
        (&["generate", "schema"], "name", schema_names(global).map(str::to_owned).collect()),
    ];
    known.into_iter().fold(command, |command, (path, argument, values)| {
        // They are kept until the program ends, which is at once: clap takes no others.
        let values: Vec<&'static str> =
            values.into_iter().map(|value| &*String::leak(value)).collect();
        with_values(command, path, argument, values)
    })
}

fn with_values(
    command: Command,
    path: &[&'static str],
    argument: &'static str,
    values: Vec<&'static str>,
) -> Command {
    match path {
        [] => command.mut_arg(argument, |arg| arg.value_parser(PossibleValuesParser::new(values))),
        [name, path @ ..] => {
            command.mut_subcommand(name, |below| with_values(below, path, argument, values))
        }
    }
}
