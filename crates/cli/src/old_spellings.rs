//! Commands that are now part of others: each answers with its new spelling.

use clap::Command;

use crate::again::words;
use crate::error::CliError;

/// A command that is part of another now, and how it is spelled there.
struct OldSpelling {
    old: &'static str,
    /// How it is spelled now, without the name of the program.
    new: &'static str,
    /// The same with the arguments of the old command, if they can be carried over.
    carried: fn(&[String]) -> Option<Vec<String>>,
}

const ALL: [OldSpelling; 7] = [
    OldSpelling { old: "resume", new: "run --resume RUN", carried: resume },
    OldSpelling { old: "parse", new: "check --text FILE --parser PARSER", carried: parse },
    OldSpelling { old: "snapshot", new: "check RUN --snapshots FOLDER", carried: snapshot },
    OldSpelling { old: "outputs", new: "export RUN FOLDER --as outputs", carried: outputs },
    OldSpelling {
        old: "head",
        new: "verify head",
        carried: |args| after(&["verify", "head"], args),
    },
    OldSpelling {
        old: "seal",
        new: "verify seal RUN --key FILE",
        carried: |args| after(&["verify", "seal"], args),
    },
    OldSpelling {
        old: "verify-proof",
        new: "verify proof FILE",
        carried: |args| after(&["verify", "proof"], args),
    },
];

/// The answer to arguments that begin with an old command, or with the request for its help.
/// `command` is the command line as it is now.
pub(crate) fn answer(command: &Command, args: &[String], program: &str) -> Option<CliError> {
    let at = first_word(command, args)?;
    let (old, rest) = match args[at].as_str() {
        "help" => (args.get(at + 1)?, None),
        _ => (&args[at], Some(&args[at + 1..])),
    };
    let (new, carried) = match ALL.iter().find(|row| row.old == old) {
        Some(OldSpelling { new, carried, .. }) => ((*new).to_owned(), rest.and_then(carried)),
        // The commands that only one study has were commands of the program.
        None => {
            let of_study = |study: &&Command| study.find_subcommand(old).is_some();
            let study = command.find_subcommand("study")?.get_subcommands().find(of_study)?;
            let begin = ["study", study.get_name(), old.as_str()];
            (begin.join(" "), rest.and_then(|rest| after(&begin, rest)))
        }
    };
    // What cannot be typed as shown is left out.
    let carried = carried.and_then(|new| words(&[&args[..at], &new].concat()));
    let new = carried.unwrap_or(new);
    Some(CliError::usage(format!("`{program} {old}` is now `{program} {new}`")))
}

/// Where the first argument is that is not an option of every command.
fn first_word(command: &Command, args: &[String]) -> Option<usize> {
    let mut at = 0;
    while args.get(at)?.starts_with('-') {
        let takes_value = args[at].strip_prefix("--").is_some_and(|name| {
            let option = command.get_arguments().find(|it| it.get_long() == Some(name));
            option.is_some_and(|option| option.get_action().takes_values())
        });
        at += if takes_value { 2 } else { 1 };
    }
    Some(at)
}

/// Other arguments after these words.
fn after(begin: &[&str], args: &[String]) -> Option<Vec<String>> {
    let begin = begin.iter().map(|word| (*word).to_owned());
    Some(begin.chain(args.iter().cloned()).collect())
}

fn is_plain(arg: &str) -> bool {
    !arg.starts_with('-')
}

fn resume(args: &[String]) -> Option<Vec<String>> {
    match args {
        // The run of a program.
        args if args.iter().any(|arg| arg == "--") => match args {
            [run, ..] if is_plain(run) => after(&["record", "--resume"], args),
            _ => after(&["record", "--resume", "RUN", "--", "CMD"], &[]),
        },
        args => after(&["run", "--resume"], args),
    }
}

fn parse(args: &[String]) -> Option<Vec<String>> {
    let rest: Vec<String> = args.iter().filter(|arg| *arg != "--jsonl").cloned().collect();
    let option = if rest.len() < args.len() { "--jsonl" } else { "--text" };
    after(&["check", option, "-"], &rest)
}

fn snapshot(args: &[String]) -> Option<Vec<String>> {
    match args {
        [run, folder, rest @ ..] if is_plain(run) && is_plain(folder) => {
            after(&["check", run, "--snapshots", folder], rest)
        }
        _ => None,
    }
}

fn outputs(args: &[String]) -> Option<Vec<String>> {
    match args {
        [run, to, folder, rest @ ..] if is_plain(run) && to == "--to" => {
            after(&["export", run, folder, "--as", "outputs"], rest)
        }
        [run, rest @ ..] if is_plain(run) && !rest.iter().any(|arg| arg.starts_with("--to")) => {
            after(&["export", run, "--as", "outputs"], rest)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_old_spelling_is_a_command() {
        let command = crate::command_line::Cli::command();
        for OldSpelling { old, new, .. } in ALL {
            assert!(command.find_subcommand(old).is_none(), "{old}");
            let first = new.split(' ').next().unwrap_or_default();
            assert!(command.find_subcommand(first).is_some(), "{new}");
        }
    }
}
