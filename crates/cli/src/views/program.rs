//! Reports the settings of a program's run.

use std::fmt::Write;

use serde_json::json;

use crate::again::words;
use crate::output::count_of;
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::model::providers;
use retold::run::Report;
use retold_wire::{ImportSource, ProgramSettings, RecordedRedaction};

/// The command of a run, its name, and the parts of its requests that did not count.
pub(crate) fn report(started: &RunStarted) -> Report {
    let Ok(settings) = serde_json::from_value::<ProgramSettings>(started.settings.clone()) else {
        return Report::default();
    };
    let ProgramSettings { chance, command, imported, intercept, name, rules, .. } = &settings;
    let ProgramSettings { shared, upstreams, urls, .. } = &settings;
    let mut text = String::new();
    // Writing to a string cannot fail.
    match imported {
        None => {
            let shown = words(command).unwrap_or_else(|| printable(&command.join(" "), 200));
            let _ = writeln!(text, "command: {shown}");
        }
        Some(ImportSource { files, format, urls }) => {
            let files = printable(&files.join(", "), 300);
            let _ = writeln!(text, "imported from: {files} ({})", printable(format, 40));
            for (upstream, url) in urls {
                let _ = writeln!(text, "  {}: {}", printable(upstream, 40), printable(url, 200));
            }
        }
    }
    if let Some(name) = name {
        let _ = writeln!(text, "name: {}", printable(name, 100));
    }
    let _ = writeln!(text, "upstreams: {}", printable(&upstreams.join(", "), 500));
    let default = |name: &str| providers::default_url(name);
    for (name, url) in urls.iter().filter(|(name, url)| default(name) != Some(url.as_str())) {
        let _ = writeln!(text, "  {}: {}", printable(name, 100), printable(url, 200));
    }
    if let Some(hosts) = intercept {
        let hosts = match hosts.is_empty() {
            true => "known providers".to_owned(),
            false => format!("known providers, {}", printable(&hosts.join(", "), 500)),
        };
        let _ = writeln!(text, "intercepted: {hosts}");
    }
    if let Some(chance) = chance {
        let drawn =
            if chance.uuid { "random, numpy.random and uuid4" } else { "random and numpy.random" };
        let _ = writeln!(text, "chance: {drawn} draw from the run's seed");
    }
    for field in &rules.ignore {
        let _ = writeln!(text, "ignored in keys: {}", printable(field, 200));
    }
    for (pattern, by) in &rules.replace {
        let _ = writeln!(
            text,
            "replaced in keys: {} by {}",
            printable(pattern, 200),
            printable(by, 200)
        );
    }
    if let Some(RecordedRedaction { key, patterns }) = &rules.redact {
        let patterns = count_of(patterns.len() as u64, "pattern");
        let _ = writeln!(text, "redacted: {patterns} (not shown), with key {}", printable(key, 40));
    }
    if *shared {
        text.push_str("equal requests share one answer\n");
    }
    Report { text, json: json!(settings), ..Report::default() }
}
