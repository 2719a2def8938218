//! The page of runs, as `report` writes it and a deposit has it.

use crate::error::CliError;
use crate::gate;
use crate::global::Global;
use crate::runs::effective;
use crate::runs::run_figures::{FiguresArgs, decider_differences, searches};
use crate::runs::settings::{experiment_of, settings_of};
use crate::select::{self, RunSelection};
use crate::views::{self, program};
use retold::escaping::printable;
use retold::id::RunId;
use retold::model::Prices;
use retold::run::RunRecord;
use retold_figures::agreement::{MeasurementLevel, PairedRaters, RatedAnswers};
use retold_report::{ReportPage, ReportTexts, RunPart, RunSummary};
use retold_wire::PROGRAM;

/// The longest texts of a page, in bytes.
pub(crate) const MOST_TEXT: usize = 200 << 20;

/// The page of sound runs of one experiment, without their texts.
pub(crate) fn report_page(
    selected: &[RunSelection],
    figures: &FiguresArgs,
    prices: &Prices,
    global: &Global,
) -> Result<ReportPage, CliError> {
    of_one_experiment(selected)?;
    let ids: Vec<RunId> = selected.iter().map(|of| of.run).collect();
    let without_others = |error| gate::without_others(error, &ids);
    let tables = figures.tables(selected, global).map_err(without_others)?;
    let deciders = decider_differences(selected).map_err(without_others)?;
    let parts = selected.iter().map(|selected| part(selected, prices, global));
    let mut parts = parts.collect::<Result<Vec<_>, CliError>>().map_err(without_others)?;
    if let ([selected], [part]) = (selected, parts.as_mut_slice()) {
        part.agreement = agreement(selected, global)?;
    }
    let searches = searches(selected, &tables, global).map_err(without_others)?;
    Ok(ReportPage { runs: parts, tables, searches, deciders, texts: None })
}

/// The prompts and answers of runs; `None` if they are more text than a browser reads well.
pub(crate) fn read_texts(selected: &[RunSelection]) -> Result<Option<ReportTexts>, CliError> {
    let mut texts = ReportTexts::default();
    for RunSelection { log, run } in selected {
        let name = (selected.len() > 1).then(|| run.short(8));
        texts.read(&mut log.checked_reader()?, *run, name.as_deref())?;
        if texts.bytes() > MOST_TEXT {
            return Ok(None);
        }
    }
    Ok(Some(texts))
}

/// How far those agree who decided under one name; `None` where only one did.
fn agreement(selected: &RunSelection, global: &Global) -> Result<Option<PairedRaters>, CliError> {
    let mut reader = selected.checked_reader()?;
    let rated = RatedAnswers::read(&mut reader, selected.run, global.studies.parsers())?;
    // The names that were not asked for need not be several.
    let Ok(choice) = rated.choice(&[], &[]) else { return Ok(None) };
    Ok(Some(rated.agreement(&choice, MeasurementLevel::Nominal)))
}

/// Refuses runs that have nothing in common to compare.
fn of_one_experiment(selected: &[RunSelection]) -> Result<(), CliError> {
    let mut experiments = Vec::new();
    for selected in selected {
        experiments
            .push(select::run_start(&mut selected.checked_reader()?, selected.run)?.experiment);
    }
    let first = experiments.first();
    match experiments.iter().find(|other| Some(*other) != first).zip(first) {
        Some((other, one)) => Err(CliError::usage(format!(
            "a report compares runs of one experiment, and these are of {} and {}",
            printable(one, 60),
            printable(other, 60)
        ))
        .hint("write a report of each experiment")),
        None => Ok(()),
    }
}

/// What is reported about a run.
fn part(selected: &RunSelection, prices: &Prices, global: &Global) -> Result<RunPart, CliError> {
    let studies = global.studies;
    let mut reader = selected.checked_reader()?;
    let in_force = effective::of(selected)?;
    // The figures of a page may not be those of the decisions in force.
    if let Some(damage) = in_force.damage() {
        return Err(CliError::from(damage.clone()).hint("no report was written"));
    }
    let in_force = effective::text(&in_force);
    let clusters = views::independence::declared_clusters(studies, &mut reader, selected.run)?;
    let (run, parsers) = (selected.run, studies.parsers());
    let summary = RunSummary::read(&mut reader, run, parsers, prices, clusters)?;
    let started = summary.started.clone();
    let Some(study) = studies.find(&started.experiment) else {
        let text = match started.experiment == PROGRAM {
            true => program::report(&started).text,
            false => String::new(),
        };
        let charts = retold_report::charts(&summary);
        return Ok(RunPart { summary, charts, text, agreement: None, in_force });
    };
    let record = RunRecord::read(&mut reader, run)?;
    let settings = settings_of(studies, &started)?;
    let charts = study.charts(&settings.experiment, &record.facts).map_err(|e| {
        CliError::usage(format!("the plots of the run: {}", printable(&e.to_string(), 500)))
    })?;
    // A study without plots of its own, such as an imported society, has those of any run.
    let charts = if charts.is_empty() { retold_report::charts(&summary) } else { charts };
    let text = experiment_of(studies, &record)?.fold(&record.facts)?.text;
    Ok(RunPart { summary, charts, text, agreement: None, in_force })
}
