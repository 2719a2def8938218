//! The groups of a figure as a plot.

use retold_figures::{FigureGroup, FigureKind, FigureTable};
use retold_study::charts::{Chart, ChartAxis, ChartData, EstimateRow};

/// The plot of a figure's groups. A single group has none, and neither have negative values, because axes begin at 0.
pub(crate) fn chart(table: &FigureTable, number: usize) -> Option<Chart> {
    let row = |group: &FigureGroup| EstimateRow {
        name: group.group.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        value: group.value,
        interval: group.interval.map(|interval| (interval.low, interval.high)),
        dots: group.dots.clone(),
        draws: group.draws,
    };
    let rows: Vec<EstimateRow> = table.groups.iter().map(row).collect();
    let is_negative = |row: &EstimateRow| {
        let low = row.interval.map(|(low, _)| low);
        let shown = row.value.into_iter().chain(low).chain(row.dots.iter().copied());
        shown.fold(0.0, f64::min) < 0.0
    };
    let axis = match table.kind {
        FigureKind::Share | FigureKind::Proportion => ChartAxis::share("share"),
        FigureKind::Mean => ChartAxis::number("mean"),
    };
    (rows.len() > 1 && !rows.iter().any(is_negative)).then(|| Chart {
        name: format!("figure_{number}"),
        title: format!("{}, with 95 % intervals", table.title()),
        data: ChartData::Estimates { axis, rows },
    })
}
