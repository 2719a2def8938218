//! The section that identifies a run.

use std::fmt::Write;

use retold::counted::{count_of, group_digits};
use retold::escaping::printable;
use retold::totals::Attempts;

use crate::html::{escape, escape_lines};
use crate::time_span::between;
use crate::{RunPart, RunSummary};

/// The longest recorded settings that are shown, in characters.
const MOST_SETTINGS: usize = 200_000;

/// Writes what has to be known before the numbers are read.
pub(crate) fn write_cautions(part: &RunPart, page: &mut String) {
    cautions(&part.summary, page);
    for line in part.in_force.lines() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(page, "<p class=note>{}</p>", escape(line, 400));
    }
}

/// Writes the experiment, the time, the models that answered, and the usage.
pub(crate) fn html(part: &RunPart, page: &mut String) {
    let RunSummary { run, started, began, ended, outcome, figures, .. } = &part.summary;
    let counts = &figures.all.counts;
    let _ = writeln!(page, "<section>");
    let seed = started.drawn_from();
    let Attempts { made, failed, .. } = counts.attempts;
    let mut rows = vec![
        ("run", run.to_string()),
        ("experiment", started.experiment.clone()),
        ("recorded", between(*began, *ended)),
        ("kind of model", started.model["kind"].as_str().unwrap_or("?").to_owned()),
        ("models asked", asked_models(&part.summary)),
        ("answered by", answered_by(&part.summary)),
        ("calls", counts.calls.text()),
        ("attempts", format!("{}, {} failed", group_digits(made), group_digits(failed))),
        ("tokens", counts.tokens.text()),
        ("cost", figures.all.cost.lines().join("; ")),
        ("seed", seed.map_or_else(|| "none is drawn from".to_owned(), |it| it.to_string())),
        ("outcome", outcome.clone().unwrap_or_else(|| "unfinished".to_owned())),
        ("events", figures.events.to_string()),
        ("recorded by", started.program.clone()),
    ];
    if let Some(of_study) = &figures.with_shards {
        let after_cost = rows.iter().position(|(name, _)| *name == "seed").unwrap_or(rows.len());
        rows.insert(after_cost, ("in all", of_study.lines().join("; ")));
    }
    page.push_str("<table class=about>\n");
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><th>{name}</th><td>{}</td></tr>", escape(&value, 600));
    }
    page.push_str("</table>\n");
    let settings = serde_json::to_string_pretty(&started.settings).unwrap_or_default();
    let cut: String = settings.chars().take(MOST_SETTINGS).collect();
    let _ = writeln!(
        page,
        "<details><summary>Settings</summary>\n<pre tabindex=0>{}</pre></details>\n</section>",
        escape_lines(&cut)
    );
}

/// What to know before reading any number of a run.
fn cautions(summary: &RunSummary, page: &mut String) {
    if summary.started.is_simulated() {
        page.push_str(
            "<p class=banner>SIMULATED: a program made these answers up; they are not data</p>\n",
        );
    }
    if summary.figures.looks > 0 {
        let times = count_of(summary.figures.looks, "time");
        let _ = writeln!(
            page,
            "<p class=note>What came out was looked at {times} before the run had ended.</p>"
        );
    }
    if summary.outcome.as_deref() != Some("finished") {
        page.push_str("<p class=banner>This run is not finished: all numbers are of what it has so far.</p>\n");
    }
}

/// The models that were asked.
pub(crate) fn asked_models(summary: &RunSummary) -> String {
    let models = summary.figures.models.iter();
    let models: Vec<String> = models
        .map(|(model, of)| {
            format!("{} ({})", printable(model, 80), count_of(of.counts.calls.asked, "call"))
        })
        .collect();
    if models.is_empty() { "none".to_owned() } else { models.join(", ") }
}

/// The models that answered, by the names that servers report.
fn answered_by(summary: &RunSummary) -> String {
    let models = summary.figures.all.counts.reported_as.iter();
    let models: Vec<String> = models
        .map(|(model, answers)| {
            format!("{} ({})", printable(model, 80), count_of(*answers, "answer"))
        })
        .collect();
    if models.is_empty() { "not reported".to_owned() } else { models.join(", ") }
}
