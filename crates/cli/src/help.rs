//! The first page of `--help`: the commands by what one wants to do with them.

use std::fmt::Write;

use clap::builder::Styles;
use clap::{Arg, Command};

/// What one wants to do, and with which commands. All other commands are named below these.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Record", &["run", "record", "fork", "plan"]),
    ("Replay and check", &["replay", "check", "diff"]),
    ("Look", &["log", "show", "stats", "table", "audit", "report", "serve"]),
    ("Prove and exchange", &["verify", "export"]),
];

/// The exit codes of all commands.
const EXIT_CODES: &str =
    "Exit codes: 0 success; 1 a difference or damage was found; 2 wrong usage or input; 3 the log or a file
could not be read or written; 4 the model failed or a limit was reached; 130 interrupted. `record`, and
`replay` and `fork` with a command after --, end with that of the command.";

/// The command line with this first page; `own` are the commands that only this program has.
pub(crate) fn with_first_page(command: Command, own: &[Command], program: &str) -> Command {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut page = String::new();
    // Writing to a string cannot fail, here and below.
    let heading = |page: &mut String, title: &str, commands: &[&Command]| {
        let _ = writeln!(page, "{header}{title}:{header:#}");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let name = command.get_name();
            let _ = writeln!(page, "  {literal}{name:<9}{literal:#} {about}");
        }
        page.push('\n');
    };
    for (title, names) in GROUPS {
        let commands: Vec<&Command> =
            names.iter().filter_map(|name| command.find_subcommand(name)).collect();
        heading(&mut page, title, &commands);
    }
    if !own.is_empty() {
        heading(&mut page, "Of this program", &own.iter().collect::<Vec<_>>());
    }
    let others: Vec<&str> =
        command.get_subcommands().map(Command::get_name).filter(|name| !is_grouped(name)).collect();
    let _ = writeln!(
        page,
        "{header}Others:{header:#} {}\n`{program} help COMMAND` describes each command.",
        others.join(", ")
    );
    let option = |arg: &Arg| {
        let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        let value = value.map_or_else(String::new, |names| format!(" {}", names[0]));
        arg.get_long().map(|name| format!("--{name}{value}"))
    };
    let options: Vec<String> = command.get_arguments().filter_map(option).collect();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let template = format!(
        "{about}\n\n{{usage-heading}} {{usage}}\n\n{page}\n\
         {header}Options of all commands:{header:#} {}, --version\n\n{EXIT_CODES}",
        options.join(", ")
    );
    command.help_template(template).subcommands(own.iter().cloned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// A terminal of 80 columns shows each command on one line.
    #[test]
    fn the_first_page_has_few_commands_and_one_line_for_each() {
        let command = crate::command_line::Cli::command();
        let names: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert!(names.len() <= 16, "{names:?}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.unwrap_or_else(|| panic!("{name} is a command")).to_string();
            assert!(about.len() <= 68, "{name}: {about}");
        }
    }
}
