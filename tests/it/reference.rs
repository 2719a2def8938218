//! `docs/commands.md` describes every command as the program does. It is made from the command line;
//! `UPDATE_COMMANDS=1` writes it again.

use std::fmt::Write;
use std::path::Path;

use retold_cli::clap::{Arg, Command};

/// Text without the ANSI codes and line breaks of a terminal.
fn plain(text: Option<&impl ToString>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// An argument as it is typed, such as `--as <FORMAT>`.
fn typed(arg: &Arg) -> String {
    let values = || {
        let names = arg.get_value_names().unwrap_or_default();
        let names: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
        names.join(" ")
    };
    let option = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => return values(),
    };
    match arg.get_action().takes_values() {
        true => format!("{option} {}", values()),
        false => option,
    }
}

fn described(text: &mut String, arg: &Arg) {
    let about = plain(arg.get_long_help().or(arg.get_help()));
    let (first, rest) = about.split_once("\n\n").unwrap_or((&about, ""));
    write!(text, "- `{}`: {}", typed(arg), first.replace('\n', " ")).unwrap();
    if !arg.get_default_values().is_empty() && arg.get_action().takes_values() {
        let default = arg.get_default_values()[0].to_string_lossy();
        write!(text, " [default: {default}]").unwrap();
    }
    text.push('\n');
    for paragraph in rest.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        write!(text, "\n  {}\n", paragraph.replace('\n', " ")).unwrap();
    }
    if arg.get_action().takes_values() {
        for value in arg.get_possible_values() {
            writeln!(text, "  - `{}`: {}", value.get_name(), plain(value.get_help())).unwrap();
        }
    }
}

/// A command and those below it; `depth` is that of its heading.
fn command(text: &mut String, command: &mut Command, depth: usize) {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let about = plain(command.get_long_about().or(command.get_about()));
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace("\n       ", "\n");
    let heading = "#".repeat(depth);
    write!(text, "\n{heading} {name}\n\n{about}\n\n```text\n{usage}\n```\n").unwrap();
    let own = command.get_arguments().filter(|arg| !arg.is_global_set() && !is_everywhere(arg));
    let own: Vec<&Arg> = own.collect();
    if !own.is_empty() {
        text.push('\n');
    }
    own.iter().filter(|arg| arg.is_positional()).for_each(|arg| described(text, arg));
    own.iter().filter(|arg| !arg.is_positional()).for_each(|arg| described(text, arg));
    for below in command.get_subcommands_mut() {
        self::command(text, below, depth + 1);
    }
}

/// Whether an option is one of clap's.
fn is_everywhere(arg: &Arg) -> bool {
    ["help", "version"].contains(&arg.get_id().as_str())
}

/// The whole reference.
fn reference() -> String {
    let catalogue = retold_cli::program::catalogue().unwrap();
    let mut line = retold_cli::command_line(&catalogue, "retold");
    line.build();
    let mut text = "# Commands\n\n\
        `retold COMMAND --help` prints the same. This page is made from the program: change the comments in \
        `crates/cli/src/commands`, then run `UPDATE_COMMANDS=1 cargo test -p retold-cli --test it reference`.\n\n\
        Options of every command:\n\n"
        .to_owned();
    line.get_arguments()
        .filter(|arg| !is_everywhere(arg))
        .for_each(|arg| described(&mut text, arg));
    for below in line.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        command(&mut text, below, 2);
    }
    text
}

#[test]
#[expect(clippy::disallowed_methods, reason = "writes the page if that is asked for")]
fn the_page_of_commands_is_that_of_the_program() {
    let path = Path::new(env!("RETOLD_ROOT")).join("docs/commands.md");
    let due = reference();
    if std::env::var_os("UPDATE_COMMANDS").is_some() {
        std::fs::write(&path, &due).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    let differing = page.lines().zip(due.lines()).find(|(page, due)| page != due);
    assert!(page == due, "UPDATE_COMMANDS=1 writes docs/commands.md again: {differing:?}");
}
