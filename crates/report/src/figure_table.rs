//! Figures of any run, as tables.

use std::fmt::Write;

use retold::counted::group_digits;
use retold_figures::FigureTable;
use retold_plan::{FigureSearch, SearchLine};

use crate::MOST_GROUPS;
use crate::draw_error::DrawError;
use crate::figure_picture::figure_svg;
use crate::html::{TABLE_END, begin_table, escape};
use crate::plot::PictureSize;

/// A figure as a picture and as a table, with the differences between its groups and what else there is to it. `runs` are the runs as they are typed.
///
/// # Errors
/// If the picture cannot be drawn.
pub(crate) fn html(
    table: &FigureTable,
    search: Option<&FigureSearch>,
    number: usize,
    runs: &str,
    page: &mut String,
) -> Result<(), DrawError> {
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(page, "<h2>{}</h2>", escape(&table.title(), 300));
    if let Some(banner) = table.banner() {
        let _ = writeln!(page, "<p class=banner>{banner}</p>");
    }
    write_picture(table, number, page)?;
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
    for counts in table.count_tables().iter().take(MOST_GROUPS) {
        let _ = writeln!(page, "<p>{}</p>", escape(&counts.title, 200));
        page.push_str(&begin_table(&counts.headings));
        for row in counts.rows.iter().take(MOST_GROUPS) {
            page.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                let class = if at == 0 { "" } else { " class=n" };
                let _ = write!(page, "<td{class}>{}</td>", escape(cell, 200));
            }
            page.push_str("</tr>\n");
        }
        page.push_str(TABLE_END);
    }
    page.push_str("<ul class=sampled>\n");
    let differences = table.differences.iter().take(MOST_GROUPS);
    let differences = differences.map(|compared| table.difference(compared));
    for said in differences.chain(table.notes()) {
        let _ = writeln!(page, "<li>{}</li>", escape(&said, 600));
    }
    page.push_str("</ul>\n");
    if let Some(search) = search {
        write_search(search, page);
    }
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
    Ok(())
}

/// What else there is to a figure, as a list of lists.
fn write_search(search: &FigureSearch, page: &mut String) {
    page.push_str("<ul class=sampled>\n");
    for SearchLine { text, details } in search.lines() {
        // Writing to a string cannot fail, here and below.
        let _ = write!(page, "<li>{}", escape(&text, 600));
        if !details.is_empty() {
            page.push_str("<ul>");
            for detail in details {
                let _ = write!(page, "<li>{}</li>", escape(&detail, 600));
            }
            page.push_str("</ul>");
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n");
}

/// The picture, with its numbers as CSV.
fn write_picture(table: &FigureTable, number: usize, page: &mut String) -> Result<(), DrawError> {
    let Some(svg) = figure_svg(table, PictureSize::PAGE)? else { return Ok(()) };
    let _ = writeln!(
        page,
        "<figure aria-label=\"{0}\">\n<div class=wide tabindex=0>{svg}</div>\n<figcaption><a download=\"figure_{number}.csv\" href=\"data:text/csv;base64,{1}\">CSV</a></figcaption></figure>",
        escape(&table.title(), 160),
        data_encoding::BASE64.encode(&numbers(table)?),
    );
    Ok(())
}

/// The numbers of a figure as CSV.
fn numbers(table: &FigureTable) -> Result<Vec<u8>, DrawError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let labels = table.labels.iter().map(String::as_str);
    writer.write_record(labels.chain(["n", "missing", "fallback", "value", "low", "high"]))?;
    for group in &table.groups {
        let labels = group.group.iter().map(|value| value.text().unwrap_or_default().to_owned());
        let counts = [group.draws, group.missing, group.fallback].map(|count| count.to_string());
        let interval = group.interval.map(|interval| (interval.low, interval.high)).unzip();
        let values = [group.value, interval.0, interval.1];
        let values = values.map(|value| value.map_or_else(String::new, |value| value.to_string()));
        writer.write_record(labels.chain(counts).chain(values))?;
    }
    Ok(writer.into_inner().map_err(|e| e.to_string())?)
}
