//! Several runs, and in which settings they differ.

use std::collections::BTreeMap;
use std::fmt::Write;

use retold::compare::setting_differences;
use retold::counted::{counted, grouped};
use retold::escaping::printable;
use retold::totals::dollars;
use serde_json::Value;

use crate::html::{TABLE_END, begin_table, escaped};
use crate::page::between;
use crate::{RunPart, about};

/// The most settings that are named for each run.
const MOST_SETTINGS: usize = 6;

/// The longest value of a setting that is shown.
const LONGEST: usize = 40;

/// A table with a row for each run.
pub(crate) fn html(runs: &[RunPart], page: &mut String) {
    let simulated = runs.iter().filter(|part| part.summary.started.is_simulated()).count();
    // Writing to a string cannot fail, here and below.
    if simulated > 0 {
        let which =
            if simulated == runs.len() { "all of".to_owned() } else { grouped(simulated as u64) };
        let _ = writeln!(
            page,
            "<p class=banner>SIMULATED: a program made up the answers of {which} {}; they are not data</p>",
            if simulated == runs.len() { "these runs" } else { "of these runs" }
        );
    }
    let unfinished = runs.iter().filter(|part| part.summary.outcome.as_deref() != Some("finished"));
    let unfinished = unfinished.count();
    if unfinished > 0 {
        let _ = writeln!(
            page,
            "<p class=banner>{} not finished: all numbers are of what is recorded so far.</p>",
            if unfinished == 1 {
                "1 run is".to_owned()
            } else {
                format!("{} are", counted(unfinished as u64, "run"))
            }
        );
    }
    let differing = differing_settings(runs);
    page.push_str("<h2>Runs</h2>\n");
    page.push_str(&begin_table([
        "run",
        "settings that differ",
        "recorded",
        "models asked",
        "calls",
        "failed",
        "cost",
        "seed",
        "outcome",
    ]));
    for (part, settings) in runs.iter().zip(&differing) {
        let summary = &part.summary;
        let calls = &summary.figures.all.counts.calls;
        let seed = summary.started.drawn_from();
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=said>{}</td><td class=n>{}</td><td class=said>{}</td><td class=n>{}</td><td class=n>{}</td>\
             <td class=n>{}</td><td class=n>{}</td><td>{}</td></tr>",
            summary.run.short(8),
            settings.iter().map(|said| escaped(said, 200)).collect::<Vec<_>>().join("<br>"),
            between(summary.began, summary.began),
            escaped(&about::asked(summary), 200),
            grouped(calls.asked),
            grouped(calls.failed),
            dollars(summary.figures.all.cost.dollars),
            seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string()),
            escaped(summary.outcome.as_deref().unwrap_or("unfinished"), 60)
        );
    }
    page.push_str(TABLE_END);
}

/// For each run, the settings in which not all runs agree.
fn differing_settings(runs: &[RunPart]) -> Vec<Vec<String>> {
    let settings = |part: &RunPart| part.summary.started.settings.clone();
    let Some(first) = runs.first().map(settings) else { return Vec::new() };
    // By the path of a setting: its value in the first run, and in those that differ from it.
    let mut values: BTreeMap<String, (Option<Value>, BTreeMap<usize, Option<Value>>)> =
        BTreeMap::new();
    for (at, part) in runs.iter().enumerate().skip(1) {
        let differences = setting_differences(&first, &settings(part)).into_iter();
        // Seeds have a column of their own.
        for difference in differences.filter(|it| it.path.rsplit('.').next() != Some("seed")) {
            let of = values.entry(difference.path).or_insert((difference.one, BTreeMap::new()));
            of.1.insert(at, difference.other);
        }
    }
    let shown = |value: &Option<Value>| match value {
        None => "not set".to_owned(),
        Some(Value::String(text)) => printable(text, LONGEST),
        Some(value) => printable(&value.to_string(), LONGEST),
    };
    let of_run = |at: usize| {
        let named = values.iter().take(MOST_SETTINGS).map(|(path, (first, others))| {
            let name = path.strip_prefix("experiment.").unwrap_or(path);
            let name = name.strip_prefix("config.").unwrap_or(name);
            format!("{}: {}", printable(name, 80), shown(others.get(&at).unwrap_or(first)))
        });
        let more = values.len().saturating_sub(MOST_SETTINGS);
        let more = (more > 0).then(|| format!("{more} more: retold diff RUN RUN"));
        named.chain(more).collect()
    };
    (0..runs.len()).map(of_run).collect()
}
