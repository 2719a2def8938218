//! Figures of any run, as tables.

use std::fmt::Write;

use retold_figures::FigureTable;

use crate::escaped;

/// A table of a figure, with the differences between its groups.
pub(crate) fn html(table: &FigureTable, page: &mut String) {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(page, "<h2>{}</h2>", escaped(&table.title(), 300));
    page.push_str("<div class=wide tabindex=0>\n<table>\n<tr>");
    for heading in table.headings() {
        let _ = write!(page, "<th>{}</th>", escaped(&heading, 100));
    }
    page.push_str("</tr>\n");
    for group in &table.groups {
        let cells = table.cells(group);
        let is_number = |at: usize| at >= table.labels.len() && at + 1 < cells.len();
        page.push_str("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let class = if is_number(at) { " class=n" } else { "" };
            let _ = write!(page, "<td{class}>{}</td>", escaped(cell, 200));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n</div>\n<ul class=sampled>\n");
    let differences = table.differences.iter().map(|compared| table.difference(compared));
    for said in differences.chain(table.notes()) {
        let _ = writeln!(page, "<li>{}</li>", escaped(&said, 600));
    }
    page.push_str("</ul>\n");
}
