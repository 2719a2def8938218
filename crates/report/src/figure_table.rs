//! Figures of any run, as tables.

use std::fmt::Write;

use retold::counted::group_digits;
use retold_figures::FigureTable;

use crate::MOST_GROUPS;
use crate::html::{TABLE_END, begin_table, escape};

/// A table of a figure, with the differences between its groups. `runs` are the runs as they are typed.
pub(crate) fn html(table: &FigureTable, runs: &str, page: &mut String) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(page, "<h2>{}</h2>", escape(&table.title(), 300));
    if let Some(banner) = table.banner() {
        let _ = writeln!(page, "<p class=banner>{banner}</p>");
    }
    page.push_str(&begin_table(table.headings()));
    for group in table.groups.iter().take(MOST_GROUPS) {
        let cells = table.cells(group);
        let class = |at: usize| match at {
            label if label < table.labels.len() => "",
            last if last + 1 == cells.len() => " class=said",
            _ => " class=n",
        };
        page.push_str("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let _ = write!(page, "<td{}>{}</td>", class(at), escape(cell, 200));
        }
        page.push_str("</tr>\n");
    }
    page.push_str(TABLE_END);
    page.push_str("<ul class=sampled>\n");
    let differences = table.differences.iter().take(MOST_GROUPS);
    let differences = differences.map(|compared| table.difference(compared));
    for said in differences.chain(table.notes()) {
        let _ = writeln!(page, "<li>{}</li>", escape(&said, 600));
    }
    page.push_str("</ul>\n");
    let of = [(table.groups.len(), "groups"), (table.differences.len(), "differences")];
    let of = of.iter().filter(|(all, _)| *all > MOST_GROUPS);
    let of: Vec<String> = of
        .map(|(all, what)| {
            format!("the first {MOST_GROUPS} of {} {what}", group_digits(*all as u64))
        })
        .collect();
    if !of.is_empty() {
        let _ = writeln!(
            page,
            "<p>Listed are {}; <code>retold stats {runs}</code> with the same figure shows them all.</p>",
            of.join(" and ")
        );
    }
}
