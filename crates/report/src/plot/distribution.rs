//! How the numbers of each group are spread: bars over one axis, a row for each group.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold_figures::PictureDistribution;

use super::picture_layout::{ForestLayout, draw_axis};
use super::{Area, Drawn, colour, pixel};

/// The height of the picture below the dots.
pub(super) fn distribution_height(layout: &ForestLayout, all: &PictureDistribution) -> i32 {
    let rows = i32::try_from(all.rows.len()).unwrap_or(i32::MAX / 1000);
    rows.saturating_mul(row_height(layout)) + 4 * layout.font
}

/// A row has bars, and a line of words below them.
fn row_height(layout: &ForestLayout) -> i32 {
    layout.row + layout.font
}

pub(super) fn draw_distribution(
    root: &Area<'_>,
    layout: &ForestLayout,
    all: &PictureDistribution,
    top: i32,
) -> Drawn {
    let (left, right) = (layout.names + layout.font, layout.width - 2 * layout.font);
    let x = |value: f64| left + pixel(all.axis.place(value) * f64::from(right - left));
    let height = row_height(layout);
    for (row, at) in all.rows.iter().zip(0..) {
        let bottom = top + at * height + layout.font * 9 / 4;
        layout.text(root, &row.name, (layout.names, bottom - layout.font / 2), HPos::Right)?;
        for bar in row.bars.iter().filter(|bar| bar.count > 0) {
            let tall = pixel(bar.height * f64::from(layout.font * 2)).max(1);
            let (from, to) = (x(bar.low), x(bar.high).max(x(bar.low) + 1));
            let ends = [(from, bottom - tall), (to, bottom)];
            let filled = Rectangle::new(ends, colour(0).mix(0.7).filled());
            root.draw(&filled).map_err(|e| e.to_string())?;
        }
        let line = PathElement::new(vec![(left, bottom), (right, bottom)], BLACK.mix(0.12));
        root.draw(&line).map_err(|e| e.to_string())?;
        layout.small(root, &row.text, (right, bottom + layout.font * 3 / 4), HPos::Right)?;
    }
    let rows = i32::try_from(all.rows.len()).unwrap_or(0);
    draw_axis(
        root,
        layout,
        (&all.axis, all.axis.name),
        (left, right, top + rows * height + layout.font),
        &x,
    )
}
