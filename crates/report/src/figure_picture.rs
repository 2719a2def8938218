//! A figure as a picture that stands for itself: its definition, its numbers and its notes are in it.

use retold_figures::FigureTable;

use crate::MOST_GROUPS;
use crate::draw_error::DrawError;
use crate::html::escape;
use crate::plot::{PictureSize, forest};

/// What makes a file SVG.
pub(crate) const NAMESPACE: &str = " xmlns=\"http://www.w3.org/2000/svg\"";

/// The picture of a figure as an SVG element of a page; `None` of one without values.
///
/// # Errors
/// If it cannot be drawn.
pub fn figure_svg(table: &FigureTable, size: PictureSize) -> Result<Option<String>, DrawError> {
    let svg = draw(table, size, Vec::new())?;
    // A page says itself what the element is.
    Ok(svg.map(|svg| svg.replacen(NAMESPACE, "", 1)))
}

/// A picture with as many groups as can be read, below notes of a line each.
fn draw(
    table: &FigureTable,
    size: PictureSize,
    mut notes: Vec<String>,
) -> Result<Option<String>, DrawError> {
    let mut drawn = table.clone();
    drawn.groups.truncate(MOST_GROUPS);
    drawn.differences.truncate(MOST_GROUPS);
    let of = [(table.groups.len(), "groups"), (table.differences.len(), "differences")];
    let of = of.into_iter().filter(|(all, _)| *all > MOST_GROUPS);
    notes.extend(of.map(|(all, what)| format!("the first {MOST_GROUPS} of {all} {what}")));
    drawn.picture().map(|picture| forest(&picture, size, &notes)).transpose()
}

/// The same as a file, with the figure as its title, the notes and differences as its description, and its table as JSON in
/// its metadata. Simulated answers, or verdicts, are said in the picture itself.
///
/// # Errors
/// As [`figure_svg`].
pub fn figure_file(
    table: &FigureTable,
    size: PictureSize,
    is_simulated: bool,
) -> Result<Option<String>, DrawError> {
    let warning = match (is_simulated, table.banner()) {
        (true, _) => Some("SIMULATED: these are not data"),
        (false, banner) => banner,
    };
    let Some(svg) = draw(table, size, warning.map(str::to_owned).into_iter().collect())? else {
        return Ok(None);
    };
    let said: Vec<String> = warning
        .map(str::to_owned)
        .into_iter()
        .chain(table.differences.iter().map(|compared| table.difference(compared)))
        .chain(table.notes())
        .collect();
    let json = serde_json::to_string(table)?;
    Ok(Some(with_words(&svg, &table.title(), &said, &json)))
}

/// A picture with its title, its sentences and its numbers inside.
pub(crate) fn with_words(svg: &str, title: &str, said: &[String], json: &str) -> String {
    let inside = format!(
        "\n<title>{}</title>\n<desc>{}</desc>\n<metadata>{}</metadata>",
        escape(title, 300),
        escape(&said.join(". "), usize::MAX),
        escape(json, usize::MAX)
    );
    // After the tag that the element begins with.
    let begin = svg.find('>').map_or(0, |at| at + 1);
    let (tag, rest) = svg.split_at(begin);
    format!("{tag}{inside}{rest}")
}
