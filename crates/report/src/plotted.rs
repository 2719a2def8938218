//! A plot on the page, with its numbers.

use std::fmt::Write;

use retold::escaping::spreadsheet_cell;
use retold_study::charts::Chart;

use crate::html::escape;
use crate::plot::{limit, svg};

/// A plot with its title and its numbers as CSV for spreadsheets, which are saved as a file of this name. `run` is the run as it is typed.
pub(crate) fn html(
    chart: &Chart,
    file: &str,
    run: &str,
    page: &mut String,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (columns, rows) = chart.data.table();
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |cells: &mut dyn Iterator<Item = &str>| {
        writer.write_record(cells.map(|cell| spreadsheet_cell(cell).into_owned()))
    };
    write(&mut columns.iter().map(AsRef::as_ref))?;
    for row in &rows {
        write(&mut row.iter().map(AsRef::as_ref))?;
    }
    let bytes = writer.into_inner().map_err(|e| e.to_string())?;
    let drawn = limit(chart);
    let left_out = drawn.left_out(run);
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "<figure aria-label=\"{0}\">\n<figcaption>{0} <a download=\"{1}\" href=\"data:text/csv;base64,{2}\">CSV</a></figcaption>\n<div class=wide tabindex=0>{3}</div>{4}</figure>",
        escape(&chart.title, 160),
        escape(&format!("{file}.csv"), 100),
        data_encoding::BASE64.encode(&bytes),
        svg(&drawn.chart)?,
        left_out.map_or_else(String::new, |said| format!("\n<p>{}</p>", escape(&said, 300)))
    );
    Ok(())
}
