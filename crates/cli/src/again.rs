//! Commands to be typed next: that of this invocation with something added, and others of the same
//! program on the same log.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use clap::ArgMatches;
use clap::parser::ValueSource;

use retold::escaping::printable;
use retold::id::RunId;

/// What our own messages call the program, whatever its name is.
const OURS: &str = "retold";

/// How commands of this program begin. A process has one command line, and every message may name a
/// command.
static BEGINS: OnceLock<String> = OnceLock::new();

/// A file that a run was read from.
#[derive(Debug, Clone)]
pub(crate) struct RunFile {
    /// Its name, as it is typed.
    pub(crate) name: String,
    pub(crate) is_damaged: bool,
}

/// The runs that were read from files, with these.
static FILES: Mutex<BTreeMap<RunId, RunFile>> = Mutex::new(BTreeMap::new());

/// Takes in that a run was read from a file, and is not in the log: commands name it by the file.
pub(crate) fn read_from(run: RunId, file: &Path, is_damaged: bool) {
    // What could not be typed as shown stays out of commands.
    let name = file.to_str().and_then(quote).unwrap_or_else(|| "FILE".to_owned());
    let file = RunFile { name, is_damaged };
    FILES.lock().unwrap_or_else(PoisonError::into_inner).insert(run, file);
}

/// The file that a run was read from; `None` for a run of the log.
pub(crate) fn file_of(run: RunId) -> Option<RunFile> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).get(&run).cloned()
}

/// The name of this program, as it was called.
pub(crate) fn program() -> String {
    let called = std::env::args_os().next();
    let name = called.as_deref().and_then(|path| Path::new(path).file_stem()?.to_str());
    name.filter(|name| quote(name).is_some_and(|quoted| quoted == **name))
        .unwrap_or(OURS)
        .to_owned()
}

/// Takes in which log this invocation names, so that commands on the same log can be shown: for `copy`, the one that it
/// copies from.
pub(crate) fn on_log(matches: &ArgMatches) {
    let given = matches.value_source("log") == Some(ValueSource::CommandLine);
    let log = matches.get_one::<std::path::PathBuf>("log").filter(|_| given);
    let copied = matches.subcommand_matches("copy");
    let from = copied.and_then(|copy| copy.get_one::<std::path::PathBuf>("from"));
    let log = from.or(log).and_then(|log| quote(log.to_str()?));
    let program = program();
    // Set once, by `main`.
    let _ = BEGINS.set(match log {
        Some(log) => format!("{program} --log {log}"),
        None => program,
    });
}

/// How a command of this program on the same log begins: `retold`, or `auction --log bids.db`.
pub(crate) fn begins() -> &'static str {
    BEGINS.get().map_or(OURS, String::as_str)
}

/// A message of ours with the commands in it as they are to be typed.
pub(crate) fn spell_commands(message: &str) -> String {
    in_place_of_ours(message, begins())
}

/// Commands are in backquotes.
fn in_place_of_ours(message: &str, begins: &str) -> String {
    message.replace("`retold ", &format!("`{begins} "))
}

/// The longest value that is repeated: nobody could read a longer one before agreeing to it.
const LONGEST: usize = 500;

/// This command with more options, as messages of ours have commands, for [`spell_commands`]; `None` if the result could not
/// be read or typed as shown, because a value is foreign text.
pub(crate) fn with(options: &[(&str, String)]) -> Option<String> {
    let args = std::env::args_os().skip(1).map(|arg| arg.into_string().ok());
    let args: Vec<String> = args.collect::<Option<_>>()?;
    command(&args, options)
}

fn command(args: &[String], options: &[(&str, String)]) -> Option<String> {
    let mut command = OURS.to_owned();
    for word in &without_key(&without_log(args)) {
        command.push(' ');
        command.push_str(&quote(word)?);
    }
    command.push_str(&typed_options(options)?);
    Some(command)
}

/// Options with a space before each; `None` as for [`with`].
pub(crate) fn typed_options(options: &[(&str, String)]) -> Option<String> {
    let mut all = String::new();
    for (option, value) in options {
        // A value that begins with a hyphen would be read as an option.
        let between = if value.starts_with('-') { '=' } else { ' ' };
        all.push_str(&format!(" {option}{between}{}", quote(value)?));
    }
    Some(all)
}

/// Words as they are to be typed; `None` if they could not be read or typed as shown.
pub(crate) fn words(words: &[String]) -> Option<String> {
    let quoted = |word: &String| match word.is_empty() {
        true => Some("''".to_owned()),
        false => quote(word),
    };
    let quoted: Option<Vec<String>> = without_key(words).iter().map(quoted).collect();
    quoted.map(|words| words.join(" ")).filter(|words| words.chars().count() <= 4 * LONGEST)
}

/// The arguments without the log: every command of ours begins with it.
fn without_log(args: &[String]) -> Vec<String> {
    let (mut left, mut args) = (Vec::new(), args.iter());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--log" => drop(args.next()),
            arg if arg.starts_with("--log=") => {}
            _ => left.push(arg.clone()),
        }
    }
    left
}

/// The option with an API key, which no message repeats.
const KEY: &str = "--key";

/// The command whose option of this name is a file.
const SEAL: &str = "seal";

/// Words with `KEY` in place of an API key.
fn without_key(words: &[String]) -> Vec<String> {
    if words.iter().any(|word| word == SEAL) {
        return words.to_vec();
    }
    let mut is_key = false;
    let shown = words.iter().map(|word| {
        let word = match word.split_once('=') {
            _ if is_key => "KEY".to_owned(),
            Some((KEY, _)) => format!("{KEY}=KEY"),
            _ => word.clone(),
        };
        is_key = word == KEY;
        word
    });
    shown.collect()
}

/// A word quoted so that a POSIX shell reads back exactly the same bytes; `None` if it cannot be shown as it is.
pub(crate) fn quote(word: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if word.is_empty() || word.chars().count() > LONGEST || printable(word, LONGEST) != word {
        return None;
    }
    if word.chars().all(plain) {
        Some(word.to_owned())
    } else {
        Some(format!("'{}'", word.replace('\'', r"'\''")))
    }
}

#[cfg(test)]
mod tests {
    use super::{command, in_place_of_ours};

    #[test]
    fn commands_are_those_of_the_program_on_its_log() {
        let ours =
            "if it did not finish, `retold run --resume RUN` continues it; retold recorded it";
        assert_eq!(in_place_of_ours(ours, "retold"), ours);
        assert_eq!(
            in_place_of_ours(ours, "auction --log 'my bids.db'"),
            "if it did not finish, `auction --log 'my bids.db' run --resume RUN` continues it; retold recorded it"
        );
    }

    #[test]
    fn an_api_key_is_not_repeated() {
        for args in [["run", "--key", "sk-secret"], ["run", "--key=sk-secret", "x.yaml"]] {
            let args = args.map(str::to_owned);
            let typed = command(&args, &[("--resume", "latest".to_owned())]).unwrap();
            assert!(typed.contains("KEY") && !typed.contains("secret"), "{typed}");
            let typed = super::words(&args).unwrap();
            assert!(typed.contains("KEY") && !typed.contains("secret"), "{typed}");
        }
    }

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        let args = ["run", "--resume", "latest", "--log", "my log.db"].map(str::to_owned);
        let typed = |value: &str| command(&args, &[("--base-url", value.to_owned())]);
        let begins = "retold run --resume latest --base-url ";
        assert_eq!(typed("http://h/v1"), Some(format!("{begins}http://h/v1")));
        assert_eq!(typed("--force"), Some(format!("{}=--force", begins.trim_end())));
        assert_eq!(typed("http://h/$(id)"), Some(format!("{begins}'http://h/$(id)'")));
        assert_eq!(typed("a'; id #"), Some(format!(r"{begins}'a'\''; id #'")));
        for never in ["", "a\nb", "\u{1b}[2J", "x\u{202e}y", &"x".repeat(501)] {
            assert_eq!(typed(never), None, "{never:?}");
        }
    }
}
