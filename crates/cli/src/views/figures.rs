//! Headline figures with their intervals.

use std::fmt::Write;

use crate::output::count_of;
use retold_figures::{ComparedFigure, Estimate, Pairing, narrow_intervals};

/// The headline figures of a run, each with how its interval was computed.
pub(crate) fn headline_table(figures: &[Estimate]) -> String {
    let width = |text: fn(&Estimate) -> String| {
        figures.iter().map(|figure| text(figure).chars().count()).max().unwrap_or(0)
    };
    let (name, value) = (width(|figure| figure.name.clone()), width(Estimate::text));
    let mut text = String::new();
    for figure in figures {
        let (of, sampled) = (count_of(figure.draws, "draw"), figure.sampling_text());
        // Writing to a string cannot fail, here and below.
        let _ =
            writeln!(text, "  {:<name$}  {:<value$}  {of}; {sampled}", figure.name, figure.text());
    }
    for note in narrow_intervals(figures) {
        let _ = writeln!(text, "  note: {note}");
    }
    text
}

/// A table of figures in two runs, and of their differences.
pub(crate) fn compared_table(figures: &[ComparedFigure]) -> String {
    let mut text = String::new();
    let width = figures.iter().map(|f| f.one.name.chars().count()).max().unwrap_or(0);
    for figure in figures {
        let ComparedFigure { one, other, pairing, lanes, lanes_changed, test, .. } = figure;
        let now = other.as_ref().map_or_else(|| "not in the second run".to_owned(), Estimate::text);
        let _ = write!(text, "  {:<width$}  {} -> {now}", one.name, one.text());
        if let Some(difference) = figure.difference_text() {
            let interval = figure.interval_text();
            let space = if interval.is_empty() { "" } else { " " };
            let _ = write!(text, "; difference {difference}{space}{interval}");
            let _ = match pairing {
                Pairing::Lanes => write!(
                    text,
                    ", paired: {} in both, of which {lanes_changed} changed",
                    count_of(*lanes, "lane")
                ),
                Pairing::Strangers => write!(text, ", unpaired"),
            };
            if let Some(test) = test {
                let _ = write!(text, "; {}", test.text());
            }
            if let Some(reason) = figure.no_interval() {
                let _ = write!(text, " ({reason})");
            }
        } else if other.is_some() {
            text.push_str("; no draws in one of the runs");
        }
        text.push('\n');
    }
    text
}

/// How the intervals of a table were computed, as a line; empty without intervals.
pub(crate) fn methods(figures: &[ComparedFigure]) -> String {
    let intervals = figures.iter().flat_map(|figure| {
        let other = figure.other.as_ref().and_then(|other| other.interval);
        [figure.one.interval, other, figure.interval].into_iter().flatten()
    });
    let mut methods: Vec<&str> = intervals.map(|interval| interval.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    let mut text = match methods.as_slice() {
        [] => String::new(),
        methods => format!("  in brackets: 95 % intervals ({})\n", methods.join(", ")),
    };
    for note in narrow_intervals(figures.iter().map(|figure| &figure.one)) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  note: {note}");
    }
    text
}
