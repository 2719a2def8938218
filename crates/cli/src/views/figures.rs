//! Headline figures with their intervals.

use std::fmt::Write;

use retold_study::figures::{Estimate, FigureKind, Interval, Paired};

/// A table of figures in two runs, and of their differences over the lanes that both have.
pub(crate) fn paired_table(figures: &[Paired]) -> String {
    let mut text = String::new();
    let width = figures.iter().map(|f| f.one.name.chars().count()).max().unwrap_or(0);
    for Paired { one, other, lanes, lanes_changed, difference, interval } in figures {
        let now = other.as_ref().map_or_else(|| "not in the second run".to_owned(), estimate);
        // Writing to a string cannot fail, here and below.
        let _ = write!(text, "  {:<width$}  {} -> {now}", one.name, estimate(one));
        if let Some(difference) = difference {
            let _ = write!(
                text,
                "; difference {}{} over the {lanes} lanes in both, of which {lanes_changed} changed",
                change(one.kind, *difference),
                interval.map_or_else(String::new, |i| ends(one.kind, i, true)),
            );
        } else if other.is_some() {
            text.push_str("; no lane is in both");
        }
        text.push('\n');
    }
    text
}

/// A value with its interval: `40.00 % [31.00, 49.00]`.
pub(crate) fn estimate(figure: &Estimate) -> String {
    let Some(value) = figure.value else { return "no draws".to_owned() };
    let interval = figure.interval.map_or_else(String::new, |i| ends(figure.kind, i, false));
    format!("{}{interval}", number(figure.kind, value))
}

fn ends(kind: FigureKind, interval: Interval, signed: bool) -> String {
    let Interval { low, high, .. } = interval;
    let end = |value: f64| match (kind, signed) {
        (FigureKind::Mean, false) => format!("{value:.3}"),
        (FigureKind::Mean, true) => format!("{value:+.3}"),
        (_, false) => format!("{:.2}", 100.0 * value),
        (_, true) => format!("{:+.2}", 100.0 * value),
    };
    format!(" [{}, {}]", end(low), end(high))
}

fn number(kind: FigureKind, value: f64) -> String {
    match kind {
        FigureKind::Share | FigureKind::Proportion => format!("{:.2} %", 100.0 * value),
        FigureKind::Mean => format!("{value:.3}"),
    }
}

fn change(kind: FigureKind, value: f64) -> String {
    match kind {
        FigureKind::Share | FigureKind::Proportion => {
            format!("{:+.2} percentage points", 100.0 * value)
        }
        FigureKind::Mean => format!("{value:+.3}"),
    }
}

/// How the intervals of a table were computed, as a line; empty without intervals.
pub(crate) fn methods(figures: &[Paired]) -> String {
    let intervals = figures.iter().flat_map(|figure| {
        let other = figure.other.as_ref().and_then(|other| other.interval);
        [figure.one.interval, other, figure.interval].into_iter().flatten()
    });
    let mut methods: Vec<&str> = intervals.map(|interval| interval.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    match methods.as_slice() {
        [] => String::new(),
        methods => format!("  in brackets: 95 % intervals ({})\n", methods.join(", ")),
    }
}
