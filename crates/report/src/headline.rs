//! The headline figures of one run.

use std::fmt::Write;

use retold::counted::group_digits;
use retold_figures::{Estimate, Figure};

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
            escape(&interval_basis(&figure), 200),
        );
    }
    page.push_str(TABLE_END);
    let run = part.summary.run.short(8);
    more_figures(part.figures.len(), &format!("retold diff {run} {run}"), page);
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

/// The method of the interval and the unit that was resampled, or the reason why there is no interval.
pub(crate) fn interval_basis(figure: &Estimate) -> String {
    match figure.interval {
        Some(interval) => format!("{} over {}", interval.method.as_str(), figure.unit),
        None if figure.draws == 0 => "none: there are no draws".to_owned(),
        None if figure.clusters > 1 => "none: all clusters have the same value".to_owned(),
        None => format!("none with fewer than two {}", figure.unit),
    }
}
