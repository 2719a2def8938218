//! Several runs, and in which settings they differ.

use std::collections::BTreeMap;
use std::fmt::Write;

use retold::compare::setting_differences;
use retold::counted::{count_of, group_digits};
use retold::escaping::printable;
use retold::event::RunStarted;
use retold::totals::{Figures, dollars};
use serde_json::Value;

use crate::html::{TABLE_END, begin_table, escape};
use crate::time_span::between;
use crate::{RunPart, about};

/// The most settings that are named for each run.
const MOST_SETTINGS: usize = 6;

/// The longest value of a setting that is shown.
const LONGEST: usize = 40;

/// Writes what has to be known before the numbers of several runs are read.
pub(crate) fn write_cautions(runs: &[RunPart], page: &mut String) {
    let simulated = runs.iter().filter(|part| part.summary.started.is_simulated()).count();
    // Writing to a string cannot fail, here and below.
    if simulated > 0 {
        let which = if simulated == runs.len() {
            "all of".to_owned()
        } else {
            group_digits(simulated as u64)
        };
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
                format!("{} are", count_of(unfinished as u64, "run"))
            }
        );
    }
}

/// A table with a row for each run.
pub(crate) fn html(runs: &[RunPart], page: &mut String) {
    let started: Vec<&RunStarted> = runs.iter().map(|part| &part.summary.started).collect();
    let differing = differing(&started);
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
            settings.iter().map(|said| escape(said, 200)).collect::<Vec<_>>().join("<br>"),
            between(summary.began, summary.began),
            escape(&about::asked_models(summary), 200),
            group_digits(calls.asked),
            group_digits(calls.failed),
            cost(&summary.figures),
            seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string()),
            escape(summary.outcome.as_deref().unwrap_or("unfinished"), 60)
        );
    }
    page.push_str(TABLE_END);
}

/// The cost of a run, and that of a merged run together with its shards.
fn cost(figures: &Figures) -> String {
    let own = dollars(figures.all.cost.dollars);
    match &figures.with_shards {
        None => own,
        Some(of_study) => format!("{own}; with its shards {}", dollars(of_study.cost.dollars)),
    }
}

/// A setting in which not all runs agree: its value in the first run, and in those that differ from it, by their places.
struct DifferingSetting {
    first: Option<Value>,
    others: BTreeMap<usize, Option<Value>>,
}

/// For each run, the settings in which not all runs agree.
fn differing(runs: &[&RunStarted]) -> Vec<Vec<String>> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let mut found: BTreeMap<String, DifferingSetting> = BTreeMap::new();
    for (at, other) in (1..).zip(others) {
        let differences = setting_differences(&first.settings, &other.settings).into_iter();
        // Seeds have a column of their own.
        for difference in differences.filter(|it| it.path.rsplit('.').next() != Some("seed")) {
            let of = found
                .entry(difference.path)
                .or_insert(DifferingSetting { first: difference.one, others: BTreeMap::new() });
            of.others.insert(at, difference.other);
        }
    }
    let of_run = |at: usize| {
        let named = found.iter().take(MOST_SETTINGS).map(|(path, of)| {
            let name = path.strip_prefix("experiment.").unwrap_or(path);
            let name = name.strip_prefix("config.").unwrap_or(name);
            let value = of.others.get(&at).unwrap_or(&of.first);
            format!("{}: {}", printable(name, 80), value_text(value.as_ref()))
        });
        let more = found.len().saturating_sub(MOST_SETTINGS);
        let more = (more > 0).then(|| format!("{more} more: retold diff RUN RUN"));
        named.chain(more).collect()
    };
    (0..runs.len()).map(of_run).collect()
}

fn value_text(value: Option<&Value>) -> String {
    match value {
        None => "not set".to_owned(),
        Some(Value::String(text)) => printable(text, LONGEST),
        Some(value) => printable(&value.to_string(), LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(settings: Value) -> RunStarted {
        RunStarted::new("test", 1, settings, json!({}))
    }

    fn found(settings: &[Value]) -> Vec<Vec<String>> {
        let runs: Vec<RunStarted> = settings.iter().cloned().map(run).collect();
        differing(&runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn each_run_has_its_value_of_each_setting_in_which_not_all_agree() {
        let game = |length: u32, seed: u32| json!({"experiment": {"config": {"length": length, "seed": seed, "size": 4}}});
        let three = found(&[game(3, 1), game(3, 2), game(5, 3)]);
        assert_eq!(three, [["length: 3"], ["length: 3"], ["length: 5"]]);
        let one_without = found(&[json!({"chat": "on\u{1b}"}), json!({})]);
        assert_eq!(one_without, [["chat: on\\u{1b}"], ["chat: not set"]]);
        assert_eq!(found(&[game(3, 1), game(3, 1)]), [[""; 0], [""; 0]]);
    }

    #[test]
    fn of_many_settings_some_are_named() {
        let many = |value: u32| {
            let settings = (0..9).map(|at| (format!("setting_{at}"), json!(value)));
            Value::Object(settings.collect())
        };
        let two = found(&[many(1), many(2)]);
        assert_eq!(two[1].len(), MOST_SETTINGS + 1);
        assert_eq!(two[1][5..], ["setting_5: 2", "3 more: retold diff RUN RUN"]);
    }
}
