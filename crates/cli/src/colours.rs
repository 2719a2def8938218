//! Colours of words that must not be overlooked, where a terminal shows them and nobody has refused them
//! (<https://no-color.org>).

use std::ffi::OsStr;
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
    refuse(std::env::var_os("NO_COLOR").as_deref(), std::env::var_os("TERM").as_deref())
}

/// Whether these values of NO_COLOR and TERM refuse colours. A dumb terminal shows escape sequences as text.
fn refuse(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_some_and(|value| !value.is_empty()) || term.is_some_and(|term| term == "dumb")
}

/// A word that says that something is wrong.
pub(crate) fn alarm(word: &str, has_colours: bool) -> String {
    paint(word, AnsiColor::Red.on_default().bold(), has_colours)
}

/// A word before what one can do.
pub(crate) fn advice(word: &str, has_colours: bool) -> String {
    paint(word, AnsiColor::Cyan.on_default(), has_colours)
}

fn paint(word: &str, style: Style, has_colours: bool) -> String {
    match has_colours {
        true => format!("{style}{word}{style:#}"),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_refused_by_no_color_and_by_a_dumb_terminal() {
        let refuse = |no_color: Option<&str>, term: Option<&str>| {
            refuse(no_color.map(OsStr::new), term.map(OsStr::new))
        };
        assert!(refuse(Some("1"), Some("xterm")) && refuse(None, Some("dumb")));
        assert!(!refuse(None, Some("xterm")) && !refuse(Some(""), None));
    }
}
