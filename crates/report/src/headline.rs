//! The headline figures of one run.

use std::fmt::Write;

use retold::counted::group_digits;
use retold_figures::{Estimate, Figure, narrow_intervals};

use crate::html::{TABLE_END, begin_table, escape};
use crate::{MOST_GROUPS, RunPart};

/// A table of the figures, with their intervals.
pub(crate) fn html(part: &RunPart, page: &mut String) {
    if part.figures.is_empty() {
        page.push_str("<p>This kind of run has no headline figures.</p>\n");
        return;
    }
    let headings = ["figure", "value", "95 % interval", "draws", "clusters", "interval"];
    page.push_str(&begin_table(headings));
    for figure in part.figures.iter().take(MOST_GROUPS).map(Figure::estimate) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=n data-pointer=\"{}\" data-value=\"{}\">{}</td><td class=n>{}</td>\
             <td class=n>{}</td><td class=n>{}</td><td class=said>{}</td></tr>",
            escape(&figure.name, 100),
            escape(figure.pointer.as_deref().unwrap_or(""), 200),
            figure.value.map_or_else(String::new, |value| value.to_string()),
            figure.value_text(),
            figure.interval_text(),
            figure.draws,
            figure.clusters,
            escape(&figure.sampling_text(), 200),
        );
    }
    page.push_str(TABLE_END);
    notes(&part.figures.iter().map(Figure::estimate).collect::<Vec<_>>(), page);
    let run = part.summary.run.short(8);
    more_figures(part.figures.len(), &format!("retold diff {run} {run}"), page);
}

/// What to know about intervals.
pub(crate) fn notes(figures: &[Estimate], page: &mut String) {
    for note in narrow_intervals(figures) {
        let _ = writeln!(page, "<p>Note: {note}.</p>");
    }
}

/// How many figures are left out, and the command that shows them.
pub(crate) fn more_figures(all: usize, command: &str, page: &mut String) {
    if all > MOST_GROUPS {
        let all = group_digits(all as u64);
        let _ = writeln!(
            page,
            "<p>Listed are the first {MOST_GROUPS} of {all} figures; <code>{command}</code> shows them all.</p>"
        );
    }
}
