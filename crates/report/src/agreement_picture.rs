//! How raters agree, as a picture that stands for itself.

use std::fmt::Write;

use retold_figures::agreement::{PairedRaters, RaterPair, ValueMatrix, coefficient_text};

use crate::draw_error::DrawError;
use crate::figure_picture::{NAMESPACE, with_words};
use crate::html::{TABLE_END, begin_table, escape};
use crate::plot::{PictureSize, agreement};

/// The most pairs that are drawn; tables have all.
const MOST: usize = 6;

/// The pairs that have a matrix.
fn drawn(found: &PairedRaters) -> Vec<(&RaterPair, &ValueMatrix)> {
    let pairs = found.pairs.iter().filter_map(|pair| Some((pair, pair.matrix.as_ref()?)));
    pairs.take(MOST).collect()
}

/// Which values each two raters gave, as an SVG element of a page; `None` if no pair has a matrix.
///
/// # Errors
/// If it cannot be drawn.
pub fn agreement_svg(found: &PairedRaters, size: PictureSize) -> Result<Option<String>, DrawError> {
    let pairs = drawn(found);
    if pairs.is_empty() {
        return Ok(None);
    }
    Ok(Some(agreement(&pairs, size, &[])?.replacen(NAMESPACE, "", 1)))
}

/// The same as a file, with coefficients as its description and everything as JSON in its metadata. Simulated answers, or
/// verdicts, are said in the picture itself.
///
/// # Errors
/// As [`agreement_svg`].
pub fn agreement_file(
    found: &PairedRaters,
    size: PictureSize,
    is_simulated: bool,
) -> Result<Option<String>, DrawError> {
    let pairs = drawn(found);
    if pairs.is_empty() {
        return Ok(None);
    }
    let is_simulated = is_simulated || found.simulated;
    let notes = is_simulated.then(|| "SIMULATED: these are not data".to_owned());
    let notes: Vec<String> = notes.into_iter().collect();
    let svg = agreement(&pairs, size, &notes)?;
    let said = notes.into_iter().chain(found.pairs.iter().map(in_words));
    let said: Vec<String> = said.collect();
    let names: Vec<&str> = found.raters.iter().map(|rater| rater.rater.as_str()).collect();
    let title = format!("agreement of {}", names.join(", "));
    Ok(Some(with_words(&svg, &title, &said, &serde_json::to_string(found)?)))
}

/// How well two raters agree, in words.
fn in_words(pair: &RaterPair) -> String {
    let RaterPair { one, other, kappa, .. } = pair;
    format!("{one} and {other}: {}; Cohen's kappa {}", pair.same_text(), coefficient_text(*kappa))
}

/// How often each two gave which values, as CSV.
fn numbers(found: &PairedRaters) -> Result<Vec<u8>, DrawError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["one", "other", "value of one", "value of the other", "answers"])?;
    for (pair, ValueMatrix { values, counts }) in drawn(found) {
        for (value, row) in values.iter().zip(counts) {
            for (other, count) in values.iter().zip(row) {
                writer.write_record([&pair.one, &pair.other, value, other, &count.to_string()])?;
            }
        }
    }
    Ok(writer.into_inner().map_err(|e| e.to_string())?)
}

/// A section of a report: the picture, and its numbers as tables.
pub(crate) fn html(found: &PairedRaters, page: &mut String) -> Result<(), DrawError> {
    let Some(svg) = agreement_svg(found, PictureSize::PAGE)? else { return Ok(()) };
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(
        page,
        "<h2>How far those agree who decided</h2>\n<figure aria-label=\"Which values each two gave: the numbers are below\">\n<div class=wide tabindex=0>{svg}</div>\n<figcaption><a download=\"agreement.csv\" href=\"data:text/csv;base64,{}\">CSV</a></figcaption></figure>",
        data_encoding::BASE64.encode(&numbers(found)?)
    );
    for (pair, matrix) in drawn(found) {
        let _ = writeln!(page, "<p>{}</p>", escape(&in_words(pair), 300));
        let first = format!("{} \\ {}", pair.one, pair.other);
        page.push_str(&begin_table(std::iter::once(first).chain(matrix.names())));
        for (name, counts) in matrix.names().zip(&matrix.counts) {
            let _ = write!(page, "<tr><td>{}</td>", escape(&name, 60));
            for count in counts {
                let _ = write!(page, "<td class=n>{count}</td>");
            }
            page.push_str("</tr>\n");
        }
        page.push_str(TABLE_END);
    }
    Ok(())
}
