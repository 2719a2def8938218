//! Colours are for terminals only, and not for users who opted out of them.

use crate::support::cli::Place;
use crate::support::terminal::on_terminal;

/// Commands that print something: help, errors, results, progress, and everything that -v to -vvv
/// add.
const COMMANDS: [&str; 7] = [
    "--help",
    "run --no-such-flag",
    "run small.yaml -v --set model.rates.rate_limited=0.5",
    "run small.yaml -vvv --set model.rates.rate_limited=0.5",
    "show latest",
    "show no-such-run",
    "verify",
];

/// Whether a text has a colour code, or any other terminal code except those that move the cursor.
fn has_colours(text: &str) -> bool {
    text.split("\u{1b}[").skip(1).any(|code| {
        let end = code.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| code[end..].starts_with('m'))
    })
}

#[test]
fn files_and_pipes_have_none() {
    let place = Place::with_run();
    for args in COMMANDS {
        let mut command = place.command();
        command.args(args.split_whitespace()).env("TERM", "xterm-256color");
        let output = command.output().unwrap();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!text.is_empty(), "{args}");
        assert!(!text.contains('\u{1b}'), "{args}: {text:?}");
    }
}

#[test]
fn terminals_have_them_unless_no_color_is_set() {
    let place = Place::with_run();
    let coloured = on_terminal(&place, COMMANDS[2], &[]);
    assert!(has_colours(&coloured), "the test can tell: {coloured:?}");
    let wrong = on_terminal(&place, "show no-such-run", &[]);
    assert!(wrong.starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m "), "{wrong:?}");
    assert!(wrong.contains("\u{1b}[36mhint:\u{1b}[0m "), "{wrong:?}");
    for args in COMMANDS {
        let text = on_terminal(&place, args, &[("NO_COLOR", "1")]);
        assert!(!text.is_empty(), "{args}");
        assert!(!has_colours(&text), "{args}: {text:?}");
    }
}
