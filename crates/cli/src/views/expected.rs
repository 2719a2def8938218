//! How wide intervals will be.

use std::fmt::Write;

use retold::escaping::printable;
use retold_figures::{ExpectedInterval, FEWEST_CLUSTERS, WIDER_DIFFERENCE};

/// A table of expected intervals, and its assumptions; empty without figures. `answers` names those that the plan is
/// made from.
pub(crate) fn intervals_text(intervals: &[ExpectedInterval], answers: &str) -> String {
    if intervals.is_empty() {
        return String::new();
    }
    let as_there = format!("as {answers}");
    let headings = ["figure", "draws", "clusters", "value", &as_there, "at worst"];
    let mut rows = vec![headings.map(str::to_owned)];
    rows.extend(intervals.iter().map(|of| {
        let [width, worst] =
            [of.half_width, of.half_width_at_worst].map(|half| of.half_width_text(half));
        let name = printable(&of.name, 100);
        [name, of.draws.to_string(), of.clusters.to_string(), of.value_text(), width, worst]
    }));
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut text = "95 % intervals to expect: half the width of each\n".to_owned();
    for row in &rows {
        let _ = write!(text, "  {:<w$}", row[0], w = width(0));
        for (column, cell) in row.iter().enumerate().skip(1) {
            let _ = write!(text, "  {cell:>w$}", w = width(column));
        }
        text.push('\n');
    }
    let mut units: Vec<&str> = Vec::new();
    for of in intervals {
        if !units.contains(&of.unit.as_str()) {
            units.push(&of.unit);
        }
    }
    // Writing to a string cannot fail, here and above.
    let _ = writeln!(text, "  clusters are {}", printable(&units.join("; "), 300));
    let _ = writeln!(text, "  as {answers}: if answers vary as the {answers} ones do");
    let _ = writeln!(
        text,
        "  at worst, for a share: half of the clusters answer one way and half the other, and all draws of a cluster agree (Kish 1965)"
    );
    let _ = writeln!(
        text,
        "  intervals are those of reports: exact (Clopper and Pearson 1934) for shares of independent draws, Korn and Graubard's (1998) for other shares, CR2 with Student's t for means"
    );
    let _ = writeln!(
        text,
        "  four times as many clusters halve a width; the difference of two such figures has one {WIDER_DIFFERENCE:.1} times as wide"
    );
    if intervals.iter().any(|of| of.half_width.is_none()) {
        let _ = writeln!(
            text,
            "  -: no interval, because there are fewer than {FEWEST_CLUSTERS} clusters, all are alike, or nothing says which values are independent"
        );
    }
    text
}
