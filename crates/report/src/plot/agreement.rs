//! Which values two raters gave to the same answers: a matrix for each two, the darker the larger the share of its row.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold::escaping::printable;
use retold_figures::agreement::{RaterPair, ValueMatrix};

use super::picture_layout::{ForestLayout, PictureSize, signed};
use super::{Area, Drawn, colour};

/// A pair with its matrix.
type MatrixOf<'a> = (&'a RaterPair, &'a ValueMatrix);

/// The places of a matrix, in pixels.
struct MatrixPlaces {
    left: i32,
    top: i32,
    cell: (i32, i32),
}

/// The matrices as an SVG element, one below the other, below notes of a line each.
///
/// # Errors
/// If the library cannot draw it, which does not happen with counts.
pub(crate) fn agreement(
    pairs: &[MatrixOf<'_>],
    PictureSize { width, font }: PictureSize,
    notes: &[String],
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let font = signed(font);
    let lines = i32::try_from(notes.len()).unwrap_or(0);
    let layout = ForestLayout {
        font,
        width: signed(width),
        row: font * 5 / 2,
        names: signed(width) * 30 / 100,
        top: font / 2 + lines * font * 3 / 2,
    };
    let heights = pairs.iter().map(|(_, matrix)| height(&layout, matrix));
    let height = layout.top + heights.sum::<i32>();
    let mut text = String::new();
    {
        let size = (width, u32::try_from(height).unwrap_or(0));
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        for (note, line) in notes.iter().zip(0..) {
            layout.text(&root, note, (font, font + line * font * 3 / 2), HPos::Left)?;
        }
        let mut top = layout.top;
        for of in pairs {
            draw_pair(&root, &layout, *of, top)?;
            top += self::height(&layout, of.1);
        }
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

/// The height of a matrix with its title, its headings and its line of words.
fn height(layout: &ForestLayout, matrix: &ValueMatrix) -> i32 {
    let rows = i32::try_from(matrix.values.len()).unwrap_or(0);
    rows * layout.row + 6 * layout.font
}

fn draw_pair(
    root: &Area<'_>,
    layout: &ForestLayout,
    (pair, matrix): MatrixOf<'_>,
    top: i32,
) -> Drawn {
    let ForestLayout { font, width, row, names, .. } = *layout;
    let count = i32::try_from(matrix.values.len()).unwrap_or(1).max(1);
    let wide = ((width - names - 2 * font) / count).min(8 * font);
    let places = MatrixPlaces { left: names + font, top: top + font * 4, cell: (wide, row) };
    let raters = [&pair.one, &pair.other].map(|rater| printable(rater, 28));
    let title = format!("rows: {}; columns: {}", raters[0], raters[1]);
    layout.text(root, &title, (font, top + font), HPos::Left)?;
    // A letter of the small type is about 0.45 of the font wide.
    let letters = usize::try_from(wide * 100 / (font * 45)).unwrap_or(0).max(2);
    for (name, at) in matrix.names().zip(0..) {
        let middle = places.left + at * wide + wide / 2;
        layout.small(
            root,
            &printable(&name, letters),
            (middle, places.top - font),
            HPos::Center,
        )?;
        let longest = usize::try_from(names * 100 / (font * 55)).unwrap_or(0).max(4);
        let at = (names + font / 2, places.top + at * row + row / 2);
        layout.text(root, &printable(&name, longest), at, HPos::Right)?;
    }
    draw_cells(root, layout, matrix, &places)?;
    let below = places.top + count * row + font;
    layout.small(root, &pair.same_text(), (places.left, below), HPos::Left)
}

fn draw_cells(
    root: &Area<'_>,
    layout: &ForestLayout,
    matrix: &ValueMatrix,
    places: &MatrixPlaces,
) -> Drawn {
    let (wide, high) = places.cell;
    for (counts, (row, y)) in matrix.counts.iter().zip((0..).zip(0_i32..)) {
        for (count, (column, x)) in counts.iter().zip((0..).zip(0_i32..)) {
            let (left, top) = (places.left + x * wide, places.top + y * high);
            let corners = [(left, top), (left + wide - 2, top + high - 2)];
            if *count > 0 {
                // Black on white and white on black can be read on it.
                let filled = colour(0).mix(0.12 + 0.4 * matrix.share(row, column)).filled();
                root.draw(&Rectangle::new(corners, filled)).map_err(|e| e.to_string())?;
            }
            let line = if row == column { BLACK.mix(0.6) } else { BLACK.mix(0.12) };
            root.draw(&Rectangle::new(corners, line)).map_err(|e| e.to_string())?;
            let middle = (left + wide / 2, top + high / 2);
            layout.text(root, &count.to_string(), middle, HPos::Center)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_within_the_picture_in_every_size() {
        let values = ["<yes>", "no", "a value with a rather long name"].map(str::to_owned);
        let counts = vec![vec![12, 1, 0], vec![3, 40, 0], vec![0, 0, 1]];
        let matrix = ValueMatrix { values: values.into(), counts };
        let pair = RaterPair {
            one: "vote".to_owned(),
            other: "ada".to_owned(),
            both: 57,
            same: 53,
            kappa: None,
            matrix: None,
        };
        for size in [PictureSize::PAGE, PictureSize::NARROW, PictureSize::COLUMN] {
            let svg = agreement(&[(&pair, &matrix); 2], size, &["a note".to_owned()]).unwrap();
            let number = |tag: &str, name: &str| -> f64 {
                let rest = tag.split(&format!("{name}=\"")).nth(1).unwrap();
                rest.split('"').next().unwrap().parse().unwrap()
            };
            let (wide, high) = (number(&svg, " width"), number(&svg, " height"));
            for tag in svg.split("<text").skip(1) {
                let (x, y) = (number(tag, " x"), number(tag, " y"));
                assert!((0.0..wide).contains(&x) && (0.0..high).contains(&y), "{size:?} {x} {y}");
            }
            assert!(
                svg.contains("the same for 53 of 57 answers") && !svg.contains("<yes"),
                "{svg}"
            );
            // Each cell has an outline, and those that have answers are filled.
            assert_eq!(svg.matches("<rect").count(), 2 * (9 + 5), "{svg}");
        }
    }
}
