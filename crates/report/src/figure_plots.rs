//! The headline figures of several runs as plots, with a row for each run.

use retold_figures::{Estimate, FigureKind};
use retold_study::charts::{Chart, ChartAxis, ChartData, EstimateRow};

use crate::RunPart;

/// The most figures that are plotted: a page of more is longer than anybody scrolls.
const MOST_PLOTS: usize = 6;

/// A plot for each of the first figures. `settings` are those in which the runs differ; the first of them names a row. A
/// figure with negative values has none, because axes begin at 0.
pub(crate) fn charts(runs: &[RunPart], names: &[&str], settings: &[Vec<String>]) -> Vec<Chart> {
    let plots = names.iter().filter_map(|name| {
        let figure = |part: &RunPart| part.figures.iter().find(|it| it.name == *name).cloned();
        let kind = runs.iter().find_map(figure)?.kind;
        let rows = runs.iter().zip(settings).filter_map(|(part, settings)| {
            let row = row(part, settings, &figure(part)?.estimate());
            Some(row)
        });
        let rows: Vec<EstimateRow> = rows.collect();
        let is_negative = |row: &EstimateRow| {
            let low = row.interval.map(|(low, _)| low);
            let shown = row.value.into_iter().chain(low).chain(row.dots.iter().copied());
            shown.fold(0.0, f64::min) < 0.0
        };
        let axis = match kind {
            FigureKind::Share | FigureKind::Proportion => ChartAxis::share("share"),
            FigureKind::Mean => ChartAxis::number("mean"),
        };
        (!rows.iter().any(is_negative)).then(|| Chart {
            name: "figure_by_run".to_owned(),
            title: format!("{name}, by run, with 95 % intervals"),
            data: ChartData::Estimates { axis, rows },
        })
    });
    let numbered = plots.take(MOST_PLOTS).zip(1..);
    numbered.map(|(plot, at)| Chart { name: format!("{}_{at}", plot.name), ..plot }).collect()
}

/// The row of a run.
fn row(part: &RunPart, settings: &[String], estimate: &Estimate) -> EstimateRow {
    let run = part.summary.run.short(8);
    EstimateRow {
        name: settings.first().map_or_else(|| run.clone(), |setting| format!("{setting} ({run})")),
        value: estimate.value,
        interval: estimate.interval.map(|interval| (interval.low, interval.high)),
        dots: estimate.dots.clone(),
        draws: estimate.draws,
    }
}
