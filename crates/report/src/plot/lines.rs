//! Lines over a number, and points in a plane, with their legend.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold::escaping::printable;
use retold_study::charts::ChartAxis;

use super::axis::NumberStyle;
use super::bars::row_at;
use super::{Area, COLOURS, Drawn, NAME, WIDTH, colour, style};

/// Groups of points, each with its name.
type PointGroups = [(String, Vec<[f64; 2]>)];

/// The room for the names of series, in pixels.
const LEGEND: i32 = 210;

/// The least and the greatest of some numbers, with some room.
fn span(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let room = ((high - low) * 0.05).max(1e-9);
    (low - room, high + room)
}

pub(super) fn lines(
    root: &Area<'_>,
    x: &str,
    y: &ChartAxis,
    series: &[(String, Vec<(f64, f64)>)],
) -> Drawn {
    let all = || series.iter().flat_map(|(_, points)| points.iter().copied());
    let ((left, right), (_, top)) = (span(all().map(|p| p.0)), span(all().map(|p| p.1)));
    let low = span(all().map(|p| p.1)).0.min(0.0);
    let across = NumberStyle::of(false, all().map(|p| p.0));
    let up = NumberStyle::of(y.is_share, all().map(|p| p.1));
    let mut chart = ChartBuilder::on(root)
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(left..right, low..top)
        .map_err(|e| e.to_string())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc(printable(x, NAME))
        .y_desc(printable(&y.name, NAME))
        .label_style(style(12, HPos::Center))
        .axis_desc_style(style(13, HPos::Center))
        .x_labels(labels(right - left, across))
        .y_labels(labels(top - low, up))
        .x_label_formatter(&|value| across.tick(*value))
        .y_label_formatter(&|value| up.tick(*value))
        .draw()
        .map_err(|e| e.to_string())?;
    for (at, (_, points)) in series.iter().enumerate() {
        let line = LineSeries::new(points.iter().copied(), colour(at).stroke_width(2));
        chart.draw_series(line).map_err(|e| e.to_string())?;
        let marks = points
            .iter()
            .map(|place| EmptyElement::at(*place) + Polygon::new(mark(at), colour(at).filled()));
        chart.draw_series(marks).map_err(|e| e.to_string())?;
    }
    legend(root, series.iter().map(|(name, _)| name.as_str()))
}

/// The most numbers at an axis of this length: of counts, no more than there are whole ones.
fn labels(length: f64, style: NumberStyle) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 10")]
    let whole = length.clamp(1.0, 10.0) as usize;
    if style == NumberStyle::Whole { whole + 1 } else { 10 }
}

/// The corners of a mark around a place, in pixels: beyond the number of colours, groups differ in
/// shape as well.
fn mark(at: usize) -> Vec<(i32, i32)> {
    match (at / COLOURS.len()) % SHAPES {
        0 => vec![(-3, -3), (3, -3), (3, 3), (-3, 3)],
        1 => vec![(0, -5), (5, 4), (-5, 4)],
        _ => vec![(0, -5), (5, 0), (0, 5), (-5, 0)],
    }
}

/// The shapes of marks.
const SHAPES: usize = 3;

/// The most series that can be told apart.
pub(super) const MOST_SERIES: usize = SHAPES * COLOURS.len();

pub(super) fn points(root: &Area<'_>, x: &str, y: &str, groups: &PointGroups) -> Drawn {
    let all = || groups.iter().flat_map(|(_, points)| points.iter().copied());
    let ((left, right), (low, top)) = (span(all().map(|p| p[0])), span(all().map(|p| p[1])));
    let mut chart = ChartBuilder::on(root)
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(42)
        .y_label_area_size(64)
        .build_cartesian_2d(left..right, low..top)
        .map_err(|e| e.to_string())?;
    let plain = NumberStyle::Plain;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(printable(x, NAME))
        .y_desc(printable(y, NAME))
        .label_style(style(11, HPos::Center))
        .axis_desc_style(style(13, HPos::Center))
        .x_label_formatter(&|value| plain.tick(*value))
        .y_label_formatter(&|value| plain.tick(*value))
        .draw()
        .map_err(|e| e.to_string())?;
    for (at, (_, points)) in groups.iter().enumerate() {
        let marks = points
            .iter()
            .map(|[x, y]| EmptyElement::at((*x, *y)) + Polygon::new(mark(at), colour(at).filled()));
        chart.draw_series(marks).map_err(|e| e.to_string())?;
    }
    legend(root, groups.iter().map(|(name, _)| name.as_str()))
}

/// A name of which the middle is left out if it is long.
fn both_ends(name: &str) -> String {
    let all: Vec<char> = name.chars().collect();
    if all.len() <= NAME - 6 {
        return printable(name, NAME);
    }
    let (head, tail) = (all.iter().take(13), all.iter().skip(all.len() - 13));
    printable(&head.chain(['…'].iter()).chain(tail).collect::<String>(), NAME)
}

/// The names of the series, next to the plot.
fn legend<'n>(root: &Area<'_>, names: impl Iterator<Item = &'n str>) -> Drawn {
    let left = i32::try_from(WIDTH).unwrap_or(760) - LEGEND + 14;
    for (at, name) in names.enumerate() {
        let y = row_at(at) + 6;
        let shape: Vec<(i32, i32)> = mark(at).iter().map(|(x, z)| (left + x, y + z)).collect();
        root.draw(&Polygon::new(shape, colour(at).filled())).map_err(|e| e.to_string())?;
        let text = Text::new(both_ends(name), (left + 12, y), style(12, HPos::Left));
        root.draw(&text).map_err(|e| e.to_string())?;
    }
    Ok(())
}
