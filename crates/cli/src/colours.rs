//! Colours of words that must not be overlooked, where a terminal shows them and nobody has refused them
//! (<https://no-color.org>).

use std::io::IsTerminal;

use clap::builder::styling::{AnsiColor, Style};

/// Whether stderr may have colours.
pub(crate) fn on_stderr() -> bool {
    std::io::stderr().is_terminal() && !are_refused()
}

/// Whether stdout may have colours.
pub(crate) fn on_stdout() -> bool {
    std::io::stdout().is_terminal() && !are_refused()
}

#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
fn are_refused() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A word that says that something is wrong.
pub(crate) fn alarm(word: &str, has_colours: bool) -> String {
    painted(word, AnsiColor::Red.on_default().bold(), has_colours)
}

/// A word that says that something is missing.
pub(crate) fn caution(word: &str, has_colours: bool) -> String {
    painted(word, AnsiColor::Yellow.on_default().bold(), has_colours)
}

/// A word before what one can do.
pub(crate) fn advice(word: &str, has_colours: bool) -> String {
    painted(word, AnsiColor::Cyan.on_default(), has_colours)
}

fn painted(word: &str, style: Style, has_colours: bool) -> String {
    match has_colours {
        true => format!("{style}{word}{style:#}"),
        false => word.to_owned(),
    }
}
