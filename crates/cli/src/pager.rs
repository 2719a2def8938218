//! Long output on a terminal goes through a pager, as in git: `PAGER`, otherwise `less`.
//!
//! `less` gets the options that git gives it, unless `LESS` names others: what fits on a screen is printed and
//! stays (`F`, `X`), and colours are shown (`R`). What comes from models is made harmless before it gets here, so
//! that `R` shows no escape sequences but ours.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

/// The options of `less` if `LESS` names none.
const LESS: &str = "FRX";

/// The option of commands whose output may be long.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct PagerArg {
    /// Print to the terminal directly. Otherwise, the output goes through the pager that PAGER names
    /// (`less` if it names none), unless it is not for a terminal.
    #[arg(long)]
    no_pager: bool,
}

impl PagerArg {
    /// The pager, if there is to be one.
    pub(crate) fn command(self) -> Option<Command> {
        let is_wanted = !self.no_pager && io::stdout().is_terminal();
        command_of(variable("PAGER").as_deref()).filter(|_| is_wanted)
    }
}

#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The pager that a variable names: a program and its options, separated by spaces, or what only a shell understands.
/// None if it is empty or `cat`, which are the usual ways to say so.
fn command_of(variable: Option<&str>) -> Option<Command> {
    let text = variable.unwrap_or("less");
    if text.contains(['"', '\'', '\\', '$', '|', '&', ';', '<', '>', '(', '`']) {
        let mut command = Command::new("sh");
        command.args(["-c", text]).stdin(Stdio::piped());
        return Some(command);
    }
    let mut words = text.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    Some(command)
}

/// A pager that runs.
pub(crate) struct Pager(Child);

impl Pager {
    /// Starts it; `None` if it cannot be started.
    pub(crate) fn start(mut command: Command) -> Option<Pager> {
        if variable("LESS").is_none() {
            command.env("LESS", LESS);
        }
        let child = command.spawn().ok()?;
        // Ctrl-C is for the pager: it must not end this program, and leave the pager without a terminal.
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            std::thread::spawn(move || {
                runtime.block_on(async { while tokio::signal::ctrl_c().await.is_ok() {} });
            });
        }
        Some(Pager(child))
    }

    /// Waits until the user has left it.
    pub(crate) fn end(mut self) {
        drop(self.0.stdin.take());
        // If waiting fails, there is nothing to wait for.
        let _ = self.0.wait();
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0.stdin {
            Some(stdin) => stdin.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.stdin.as_mut().map_or(Ok(()), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pager_is_a_program_with_options_and_may_be_none() {
        let words = |variable| {
            command_of(variable).map(|command| {
                let arguments = command.get_args().map(|word| word.to_string_lossy().into_owned());
                [command.get_program().to_string_lossy().into_owned()]
                    .into_iter()
                    .chain(arguments)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(words(None), Some(vec!["less".to_owned()]));
        assert_eq!(words(Some("bat -p")), Some(vec!["bat".to_owned(), "-p".to_owned()]));
        let quoted = "less -P 'a page'";
        let by_a_shell = ["sh", "-c", quoted].map(str::to_owned).to_vec();
        assert_eq!(words(Some(quoted)), Some(by_a_shell));
        assert_eq!((words(Some("")), words(Some("cat"))), (None, None));
    }
}
