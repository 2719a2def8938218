//! Completions for fish that clap's generator leaves out: of commands below the second level
//! (`study deliberation personas list`), and of the values of arguments without a name (`generate schema society`).

use std::fmt::Write;

use clap::{Arg, Command};

/// The script that clap made, with these.
pub(super) fn complete(script: &str, command: &Command, program: &str) -> String {
    let mut script = script.to_owned();
    for first in command.get_subcommands() {
        let function = format!("__fish_{}_using_subcommand", program.replace('-', "_"));
        let first_is_typed = format!("{function} {}", first.get_name());
        script.push_str(&values_of(first, &first_is_typed, program));
        for second in first.get_subcommands() {
            let second_is_typed =
                format!("{first_is_typed}; and __fish_seen_subcommand_from {}", second.get_name());
            script.push_str(&values_of(second, &second_is_typed, program));
            for third in visible_subcommands(second) {
                // It is offered until it is typed.
                let before = format!("__fish_seen_subcommand_from {}\"", second.get_name());
                let name = third.get_name();
                let from = format!("{before} -f -a \"{name}\"");
                let until = format!(
                    "__fish_seen_subcommand_from {}; and not __fish_seen_subcommand_from {name}\" -f -a \"{name}\"",
                    second.get_name()
                );
                script = script.replace(&from, &until);
                let path = [first.get_name(), second.get_name(), name];
                below(&mut script, third, &path, program);
            }
        }
    }
    script
}

/// The values of a command's first argument without a name, if they are known, offered once the command is typed.
fn values_of(command: &Command, is_typed: &str, program: &str) -> String {
    let named = command.get_positionals().next().map(|arg| arg.get_possible_values());
    let values = named.unwrap_or_default();
    if values.is_empty() {
        return String::new();
    }
    let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
    format!("complete -c {program} -n \"{is_typed}\" -f -a \"{}\"\n", values.join(" "))
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set())
}

/// The commands and options of a command, and of those below it.
fn below(script: &mut String, command: &Command, path: &[&str], program: &str) {
    let names: Vec<&str> = visible_subcommands(command).map(Command::get_name).collect();
    let seen: Vec<String> =
        path.iter().map(|name| format!("__fish_seen_subcommand_from {name}")).collect();
    let mut condition = seen.join("; and ");
    if !names.is_empty() {
        condition.push_str(&format!("; and not __fish_seen_subcommand_from {}", names.join(" ")));
    }
    let start = format!("complete -c {program} -n \"{condition}\"");
    for option in command.get_opts().chain(flags(command)).filter(|arg| !arg.is_hide_set()) {
        let Some(long) = option.get_long() else { continue };
        let value = if option.get_action().takes_values() { " -r" } else { "" };
        let about = option.get_help().map(ToString::to_string).unwrap_or_default();
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(script, "{start} -l {long} -d '{}'{value}", quote(&about));
    }
    for next in visible_subcommands(command) {
        let about = next.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(script, "{start} -f -a \"{}\" -d '{}'", next.get_name(), quote(&about));
        below(script, next, &[path, &[next.get_name()]].concat(), program);
    }
}

/// The options without a value.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_flag = |arg: &&Arg| !arg.is_positional() && !arg.get_action().takes_values();
    command.get_arguments().filter(is_flag)
}

/// A text between single quotes.
fn quote(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', " ")
}
