//! The commands that run a recorded program again, as they are to be typed.

use std::collections::BTreeSet;

use crate::again::words;
use crate::error::CliError;
use crate::select::RunSelection;
use retold::event::RunStarted;
use retold::id::RunId;
use retold::model::providers;
use retold::run::how_it_ended;
use retold_wire::{MASK, PROGRAM, ProgramSettings, has_placeholder};

/// The placeholder in a command for a URL that only the user knows.
pub(super) const URL: &str = "URL";

/// The placeholder for a command that could not be read or typed as shown.
const CMD: &str = "CMD";

/// The command, without the name of this program: `replay 1a2b3c4d -- python study.py`, or
/// `record --resume 1a2b3c4d --upstream openai=http://localhost:8000/v1 -- python study.py`.
pub(crate) fn command(verb: &str, run: RunId, flags: &[String], started: &RunStarted) -> String {
    with(verb, run, flags, &settings_of(started))
}

/// The same with more options of the verb.
pub(super) fn with(verb: &str, run: RunId, flags: &[String], settings: &ProgramSettings) -> String {
    let mut all = vec![verb.to_owned(), run.short(8)];
    all.extend(flags.iter().cloned());
    if verb != "replay" {
        all.extend(options(settings));
    }
    format!("{} -- {}", all.join(" "), program(settings))
}

/// Refuses to execute a program's run without the program.
pub(crate) fn needs_command(selected: &RunSelection, started: &RunStarted) -> Result<(), CliError> {
    let run = selected.run;
    if started.experiment != PROGRAM {
        return Ok(());
    }
    let is_finished = how_it_ended(selected.log.reader()?.as_mut(), run)?.is_some();
    let next = |verb| command(verb, run, &[], started);
    let message =
        "this run was recorded from a program: it is run again together with that program";
    let error = CliError::usage(message).hint(format!("`retold {}` replays it", next("replay")));
    let error = match is_finished {
        true => error,
        false => error.hint(format!("`retold {}` continues it", next("record --resume"))),
    };
    Err(error.hint(format!("`retold {}` records a new run that shares its answers", next("fork"))))
}

/// The settings of a run; the defaults if they cannot be read.
fn settings_of(started: &RunStarted) -> ProgramSettings {
    serde_json::from_value(started.settings.clone()).unwrap_or_default()
}

/// The command, or [`CMD`] if parts of it are not recorded.
fn program(settings: &ProgramSettings) -> String {
    let is_whole = !settings.command.iter().any(|it| it.contains(MASK) || has_placeholder(it));
    let typed = words(&settings.command).filter(|it| is_whole && !it.is_empty());
    typed.unwrap_or_else(|| CMD.to_owned())
}

/// The command that imports a file with the exchanges of a run so that its upstreams have their names again;
/// `None` if they have them anyway.
pub(crate) fn import(file: &str, settings: &ProgramSettings) -> Option<String> {
    let settings = ProgramSettings { intercept: None, ..settings.clone() };
    let file = words(&[file.to_owned()]).unwrap_or_else(|| "FILE".to_owned());
    options(&settings).map(|options| format!("import {file} {options}"))
}

/// The options that name the servers, if there are any; they are foreign text.
fn options(settings: &ProgramSettings) -> Option<String> {
    let typed = words(&servers(settings)).unwrap_or_else(|| "--upstream NAME=URL".to_owned());
    Some(typed).filter(|typed| !typed.is_empty())
}

/// The options that name the servers, but for the providers' own.
fn servers(settings: &ProgramSettings) -> Vec<String> {
    let hosts: BTreeSet<&String> = settings.intercept.iter().flatten().collect();
    let upstreams: BTreeSet<&String> =
        settings.upstreams.iter().chain(settings.urls.keys()).collect();
    let mut all = Vec::new();
    for name in upstreams.difference(&hosts) {
        let url = match (settings.led_to(name), providers::default_url(name)) {
            (Some(url), own) if own == Some(url) => continue,
            (None, Some(_)) => continue,
            (Some(url), _) => url_to_show(url),
            (None, None) => URL,
        };
        all.extend(["--upstream".to_owned(), format!("{name}={url}")]);
    }
    if settings.intercept.is_some() {
        all.push("--intercept".to_owned());
    }
    for name in hosts {
        let elsewhere = settings.led_to(name).filter(|url| *url != format!("https://{name}"));
        let url = elsewhere.map_or_else(String::new, |url| format!("={}", url_to_show(url)));
        all.extend(["--host".to_owned(), format!("{name}{url}")]);
    }
    all
}

/// A URL of which something is not recorded is left to the user.
pub(super) fn url_to_show(url: &str) -> &str {
    if url.contains(MASK) { URL } else { url }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The command for a run with this command and these servers.
    fn typed(command: &[&str], urls: &[(&str, &str)], intercept: Option<&[&str]>) -> String {
        let owned =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let urls: BTreeMap<_, _> =
            urls.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned())).collect();
        let settings = ProgramSettings {
            command: owned(command),
            intercept: intercept.map(owned),
            upstreams: urls.keys().cloned().collect(),
            urls,
            ..ProgramSettings::default()
        };
        let whole = with("record --resume", RunId([0x1a; 8]), &[], &settings);
        whole.strip_prefix("record --resume 1a1a1a1a ").unwrap().to_owned()
    }

    #[test]
    fn the_whole_command_is_typed_with_the_servers_that_have_to_be_named() {
        let study = ["python", "study.py"];
        let own = ("anthropic", "https://api.anthropic.com");
        let local = ("openai", "http://127.0.0.1:8000/v1");
        assert_eq!(typed(&study, &[own], None), "-- python study.py");
        assert_eq!(
            typed(&study, &[own, local], None),
            "--upstream openai=http://127.0.0.1:8000/v1 -- python study.py"
        );
        let secret = ("openai", "http://127.0.0.1:8000/v1[key]");
        assert_eq!(typed(&study, &[secret], None), "--upstream openai=URL -- python study.py");
        let hosts = [("api.example.com", "https://api.example.com"), ("b.example", "http://h:1")];
        assert_eq!(
            typed(&study, &hosts, Some(&["api.example.com", "b.example"])),
            "--intercept --host api.example.com --host b.example=http://h:1 -- python study.py"
        );
        assert_eq!(typed(&[], &[own], None), "-- CMD");
        assert_eq!(typed(&["env", "", "x"], &[], None), "-- env '' x");
        let taken_out = format!("[redacted-{}]", "a".repeat(13));
        for word in ["K=[key]", &taken_out] {
            assert_eq!(typed(&["env", word, "x"], &[], None), "-- CMD");
        }
    }

    /// Commands and URLs come from recordings.
    #[test]
    fn foreign_text_is_quoted_or_left_out() {
        let due = r"--upstream 'openai=http://h/$(id)`id`' -- sh -c ''\''; rm -rf ~ #'";
        assert_eq!(
            typed(&["sh", "-c", "'; rm -rf ~ #"], &[("openai", "http://h/$(id)`id`")], None),
            due
        );
        for hostile in ["a\nb", "\u{1b}[2J", "x\u{202e}y", &"x".repeat(501)] {
            assert_eq!(typed(&["sh", hostile], &[], None), "-- CMD", "{hostile:?}");
            let named = typed(&["sh"], &[("openai", hostile)], None);
            assert_eq!(named, "--upstream NAME=URL -- sh", "{hostile:?}");
        }
        let many: Vec<String> = (0..200).map(|n| format!("upstream{n}")).collect();
        let many: Vec<(&str, &str)> =
            many.iter().map(|name| (&**name, "http://h.example")).collect();
        assert_eq!(typed(&["sh"], &many, None), "--upstream NAME=URL -- sh");
    }
}
