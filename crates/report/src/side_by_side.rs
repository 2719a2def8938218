//! The headline figures of several runs, and how each run differs from the first.

use std::fmt::Write;

use retold::counted::count_of;
use retold_figures::{ComparedFigure, Estimate, Figure, Pairing, compared_figures, other_seeds};

use crate::draw_error::DrawError;
use crate::headline::{more_figures, notes};
use crate::html::{TABLE_END, begin_table, escape};
use crate::runs_table::differing_settings;
use crate::{MOST_GROUPS, RunPart, figure_plots, plotted};

/// A table with the figures of all runs, and plots of the first figures.
pub(crate) fn html(runs: &[RunPart], page: &mut String) -> Result<(), DrawError> {
    let names = names(runs);
    if names.is_empty() {
        page.push_str("<p>This kind of run has no headline figures.</p>\n");
        return Ok(());
    }
    table(runs, &names, page);
    let charts = figure_plots::charts(runs, &names, &differing_settings(runs));
    for chart in &charts {
        plotted::html(chart, &chart.name, "RUN", page)?;
    }
    if charts.len() < names.len() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            page,
            "<p>Plotted are {} of {} figures, the first without negative values.</p>",
            charts.len(),
            names.len()
        );
    }
    Ok(())
}

fn table(runs: &[RunPart], names: &[&str], page: &mut String) {
    let Some((first, others)) = runs.split_first() else { return };
    let run = first.summary.run.short(8);
    let difference_from = format!("difference from {run}");
    page.push_str(&begin_table([
        "figure",
        "run",
        "value",
        "95 % interval",
        "draws",
        "clusters",
        &difference_from,
        "95 % interval",
        "p",
        "compared",
    ]));
    let compared = others.iter().map(|part| {
        let [seed, other] = [first, part].map(|part| part.summary.started.seed);
        compared_figures(&first.figures, &part.figures, Pairing::of_seeds(seed, other))
    });
    let compared: Vec<Vec<ComparedFigure>> = compared.collect();
    // Each figure is a body of its own, which a page of paper keeps together. Writing to a string cannot fail, here and
    // below.
    for (at, name) in names.iter().take(MOST_GROUPS).enumerate() {
        page.push_str(if at > 0 { "</tbody>\n<tbody>\n" } else { "" });
        let _ = write!(
            page,
            "<tr class=first><th scope=rowgroup rowspan={}>{}</th>",
            runs.len(),
            escape(name, 100)
        );
        let base = figure(first, name);
        let _ = writeln!(page, "{}<td></td><td></td><td></td><td></td></tr>", values(first, base));
        for (part, compared) in others.iter().zip(&compared) {
            let figure = figure(part, name);
            let compared = compared.iter().find(|compared| compared.one.name == *name);
            let _ = writeln!(page, "<tr>{}{}</tr>", values(part, figure), difference(compared));
        }
    }
    page.push_str(TABLE_END);
    let second = others.first().map_or_else(|| run.clone(), |other| other.summary.run.short(8));
    more_figures(names.len(), &format!("retold diff {run} {second}"), page);
    methods(runs, names, page);
    let figures = runs.iter().flat_map(|part| &part.figures);
    notes(&figures.map(Figure::estimate).collect::<Vec<_>>(), page);
    let seeds: Vec<u64> = others.iter().map(|other| other.summary.started.seed).collect();
    if let Some(caution) = other_seeds(first.summary.started.seed, &seeds) {
        let _ = writeln!(page, "<p>Note: {}.</p>", escape(&caution, 300));
    }
}

/// The names of all figures, in the order of the runs.
fn names(runs: &[RunPart]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in runs.iter().flat_map(|part| &part.figures) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    names
}

fn figure<'r>(part: &'r RunPart, name: &str) -> Option<&'r Figure> {
    part.figures.iter().find(|figure| figure.name == name)
}

/// The cells of a figure in one run.
fn values(part: &RunPart, figure: Option<&Figure>) -> String {
    let run = part.summary.run.short(8);
    let Some(of) = figure.map(Figure::estimate) else {
        return format!(
            "<td>{run}</td><td class=n>not in this run</td><td></td><td></td><td></td>"
        );
    };
    let Estimate { draws, clusters, .. } = of;
    format!(
        "<td>{run}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{draws}</td><td class=n>{clusters}</td>",
        of.value_text(),
        of.interval_text(),
    )
}

/// The cells of a difference.
fn difference(compared: Option<&ComparedFigure>) -> String {
    let Some((compared, difference)) = compared.and_then(|it| Some((it, it.difference_text()?)))
    else {
        return "<td class=n>-</td><td></td><td></td><td></td>".to_owned();
    };
    let interval = match compared.no_interval() {
        Some(reason) => format!("<td class=said>{reason}</td>"),
        None => format!("<td class=n>{}</td>", compared.interval_text()),
    };
    let over = match compared.pairing {
        Pairing::Strangers => "unpaired".to_owned(),
        Pairing::Lanes => {
            let changed = compared.lanes_changed;
            format!("paired, {} in both, {changed} changed", count_of(compared.lanes, "lane"))
        }
    };
    let p = compared.test.map_or_else(String::new, |test| test.text());
    format!(
        "<td class=n>{difference}</td>{interval}<td class=said>{p}</td><td class=said>{over}</td>"
    )
}

/// How the interval of each figure was computed, once for all runs in which it was computed alike.
fn methods(runs: &[RunPart], names: &[&str], page: &mut String) {
    page.push_str("<ul class=sampled>\n");
    for name in names.iter().take(MOST_GROUPS) {
        let mut how: Vec<(String, Vec<String>)> = Vec::new();
        for part in runs {
            let Some(figure) = figure(part, name) else { continue };
            let (said, run) = (figure.estimate().sampling_text(), part.summary.run.short(8));
            match how.iter_mut().find(|(other, _)| *other == said) {
                Some((_, runs)) => runs.push(run),
                None => how.push((said, vec![run])),
            }
        }
        let is_alike = how.len() == 1;
        let said = how.into_iter().map(|(said, runs)| match is_alike {
            true => said,
            false => format!("{said} (run {})", runs.join(", ")),
        });
        let said = said.collect::<Vec<_>>().join("; ");
        let _ = writeln!(page, "<li>{}: {}</li>", escape(name, 100), escape(&said, 600));
    }
    page.push_str("</ul>\n");
}
