//! The methods by which decisions were found, and the independence of decisions.

use std::fmt::Write;

use retold::counted::group_digits;

use crate::html::{TABLE_END, begin_table, escape};
use crate::{MOST_GROUPS, RunSummary, methods};

/// The number of decisions that a strategy found.
pub(crate) fn write_counts(summary: &RunSummary, page: &mut String) {
    if let Some(said) = summary.decision_counts().says(&summary.run.to_string()) {
        // Nothing in it is from the log. Writing to a string cannot fail, here and below.
        let _ = writeln!(page, "<p>{said}</p>");
    }
}

/// A table of methods by kind of call.
pub(crate) fn by_method(summary: &RunSummary, page: &mut String) {
    if summary.decision_counts().decisions == 0 {
        page.push_str("<p>This run has no decisions of its own.</p>\n");
        return;
    }
    let mut rows = Vec::new();
    for (kind, of) in &summary.figures.kinds {
        let methods = methods(&of.parsers);
        let all: u64 = methods.values().sum();
        for ((method, is_last_resort), decisions) in methods {
            let note =
                if is_last_resort { "last resort: nothing was found in the answer" } else { "" };
            let class = if is_last_resort { " class=warn" } else { "" };
            rows.push(format!(
                "<tr{class}><td>{}</td><td>{}</td><td class=n>{decisions}</td><td class=n>{:.2} %</td><td class=said>{note}</td></tr>",
                escape(kind, 100),
                escape(&method, 100),
                100.0 * decisions as f64 / all.max(1) as f64
            ));
        }
    }
    page.push_str(&begin_table(["calls", "method", "decisions", "share", "note"]));
    for row in rows.iter().take(MOST_GROUPS) {
        let _ = writeln!(page, "{row}");
    }
    page.push_str(TABLE_END);
    if rows.len() > MOST_GROUPS {
        let (all, run) = (group_digits(rows.len() as u64), summary.run.short(8));
        let _ = writeln!(
            page,
            "<p>Listed are the first {MOST_GROUPS} of {all} methods; <code>retold stats {run} --json</code> has them all, as <code>kinds</code>.</p>"
        );
    }
}

/// The independence of decisions: the sentences of `retold audit --independence`.
pub(crate) fn independence(summary: &RunSummary, page: &mut String) {
    page.push_str("<ul>\n");
    for sentence in summary.independence.sentences() {
        let _ = writeln!(page, "<li>{}</li>", escape(&sentence, 600));
    }
    page.push_str("</ul>\n");
}
