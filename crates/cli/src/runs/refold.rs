//! A run executed again with other decisions about its answers.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::CliError;
use crate::global::Global;
use crate::output::{count_of, group_digits};
use crate::runs::run_figures::{figures_error, rows_error};
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::settings_of;
use crate::select::{self, RunSource};
use crate::views::departures::{departures_json, departures_text};
use crate::views::facts::facts_text;
use crate::views::forecast::{ESTIMATED, forecast_text, new_calls_json};
use crate::views::run_figures;
use retold::compare::{FactChanges, FactRecord, fact_changes, recorded_facts};
use retold::id::{CallPath, Sample};
use retold::model::{Destinations, Prices};
use retold::run::{DryRun, DryRunSettings, Finish, Forecast, Mode, OtherDecision};
use retold_figures::{FigureRun, FigureTable, leading_tables};
use retold_study::figures::figure_study;
use retold_wire::PROGRAM;

/// What other decisions change in a run.
pub(crate) struct RefoldResult {
    /// How many decisions differ from the recorded ones.
    decisions: u64,
    facts: FactChanges,
    rehearsal: DryRun,
    forecast: Forecast,
    /// The study's figures, of the run as recorded and with these decisions.
    figures: Vec<FigureTable>,
}

/// Refuses a run that only its program can execute again.
pub(crate) fn refoldable(source: &RunSource) -> Result<(), CliError> {
    let started = select::run_start(source.log.reader()?.as_mut(), source.run)?;
    if started.experiment != PROGRAM {
        return Ok(());
    }
    let message = "--refold is only for runs of studies, and this run was recorded from a program";
    let hint = format!(
        "`retold check {} --parser NAME@VERSION` without --refold compares its decisions",
        source.run
    );
    Err(CliError::usage(message).hint(hint))
}

/// Executes a run again with these decisions in the place of the recorded ones, answered from its
/// log.
pub(crate) fn refold(
    source: &RunSource,
    decisions: BTreeMap<(CallPath, Sample), OtherDecision>,
    prices: &Prices,
    global: &Global,
) -> Result<RefoldResult, CliError> {
    let mut reader = source.checked_reader()?;
    let started = select::run_start(&mut reader, source.run)?;
    let settings = settings_of(global.studies, &started)?;
    let recorded = recorded_facts(&mut reader, source.run)?;
    let study = global.studies.find(&started.experiment);
    let destinations = Destinations::of_run(false, &started.settings, &started.model);
    let (log, run) = (source.log.clone(), source.run);
    let count = decisions.len() as u64;
    let session = StudyExecution {
        rehearsal: DryRunSettings { decisions, ..DryRunSettings::default() },
        ..StudyExecution::new(log, run, Mode::Rehearse, started, settings)
    };
    let mut rehearsal = match session::go(session, global)?.finish {
        Finish::Rehearsed(rehearsal) => rehearsal,
        Finish::Stopped(stop) => return Err(stop.into()),
        Finish::Finished | Finish::EndOfRecord | Finish::Closed(_) => DryRun::default(),
    };
    let now: Vec<FactRecord> =
        std::mem::take(&mut rehearsal.facts).into_iter().map(FactRecord::from).collect();
    let mut figures = Vec::new();
    if let Some(study) = study.filter(|study| !study.headline().is_empty()) {
        let of = |facts: &[FactRecord]| {
            let facts: Result<Vec<Value>, _> =
                facts.iter().map(|record| serde_json::from_str(&record.fact)).collect();
            let facts = facts.map_err(|e| CliError::usage(format!("a fact of the run: {e}")))?;
            figure_study(study, &facts).map_err(rows_error)
        };
        let mut again = source.checked_reader()?;
        let named =
            |name: &str, reader, study| FigureRun { name: name.to_owned(), run, reader, study };
        let mut runs = [
            named("recorded", &mut reader, of(&recorded)?),
            named("with these decisions", &mut again, of(&now)?),
        ];
        let tables = leading_tables(&mut runs, global.studies.parsers());
        figures = tables.map_err(figures_error)?.tables;
    }
    let forecast = rehearsal.forecast(prices, &destinations);
    let facts = fact_changes(recorded, now);
    Ok(RefoldResult { decisions: count, facts, rehearsal, forecast, figures })
}

impl RefoldResult {
    pub(crate) fn json(&self) -> Value {
        let RefoldResult { decisions, facts, rehearsal, forecast, figures } = self;
        let DryRun { matching, changed, unrecorded, left, departures, misfits, .. } = rehearsal;
        json!({
            "decisions": decisions,
            "facts": facts,
            "calls": {
                "matching": matching,
                "changed": changed,
                "unrecorded": unrecorded,
                "left": left,
            },
            "unusable_decisions": misfits,
            "new_calls": new_calls_json(&rehearsal.new),
            "lanes": departures_json(departures),
            "forecast": forecast,
            "figures": figures,
        })
    }

    pub(crate) fn text(&self, most: usize) -> String {
        let RefoldResult { decisions, facts, rehearsal, forecast, figures } = self;
        let DryRun { left, departures, misfits, new, .. } = rehearsal;
        let mut text =
            format!("\nthe run with the {} that differ\n", count_of(*decisions, "decision"));
        // Writing to a string cannot fail, here and below.
        if *misfits > 0 {
            let _ = writeln!(
                text,
                "{} cannot be used by the experiment, because the value is of another type; the \
                 recorded parser decided instead",
                count_of(*misfits, "decision")
            );
        }
        facts_text(facts, ["recorded", "with these decisions"], most, &mut text);
        if new.is_empty() {
            text.push_str("\nno later prompt would differ: nothing would have to be asked again\n");
        } else {
            let calls = count_of(new.len() as u64, "call");
            let _ = writeln!(text, "\n{calls} would have to be asked again");
            text.push_str(&forecast_text(forecast, ESTIMATED));
        }
        if *left > 0 {
            let _ = writeln!(
                text,
                "{} recorded calls would not be asked any more",
                group_digits(*left)
            );
        }
        text.push_str(&departures_text(departures));
        if !figures.is_empty() {
            text.push('\n');
            text.push_str(&run_figures::tables(figures));
            if !new.is_empty() {
                text.push_str(
                    "  calls that would be asked again keep their recorded answers here; those never recorded fail\n",
                );
            }
        }
        text
    }
}
