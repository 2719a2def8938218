//! Rows of values and bars, one below the other.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold_study::charts::{ChartAxis, EstimateRow};

use super::axis::{NumberStyle, across, axis_below};
use super::{Area, Drawn, LEFT, colour, write};

/// The middle of a row, in pixels.
pub(super) fn row_at(row: usize) -> i32 {
    i32::try_from(row).unwrap_or(i32::MAX / 40).saturating_mul(20) + 14
}

/// The end of an axis from 0: 100 % for shares, otherwise the greatest value.
fn end(is_share: bool, values: impl Iterator<Item = f64>) -> f64 {
    if is_share { 1.0 } else { values.fold(0.0, f64::max).max(1e-12) }
}

pub(super) fn estimates(root: &Area<'_>, axis: &ChartAxis, rows: &[EstimateRow]) -> Drawn {
    let ends = rows.iter().flat_map(|row| [row.value, row.interval.map(|(_, high)| high)]);
    let dots = rows.iter().flat_map(|row| row.dots.iter().copied());
    let most = end(axis.is_share, ends.flatten().chain(dots));
    let style = NumberStyle::of(axis.is_share, rows.iter().filter_map(|row| row.value));
    for (at, EstimateRow { name, value, interval, dots, .. }) in rows.iter().enumerate() {
        let y = row_at(at);
        write(root, name, (LEFT - 10, y), HPos::Right)?;
        if let Some((low, high)) = interval {
            let line = vec![(across(*low, most), y), (across(*high, most), y)];
            let line = PathElement::new(line, colour(0).stroke_width(2));
            root.draw(&line).map_err(|e| e.to_string())?;
        }
        for dot in dots {
            let ring = Circle::new((across(*dot, most), y), 5, colour(0));
            root.draw(&ring).map_err(|e| e.to_string())?;
        }
        if let Some(value) = value {
            let dot = Circle::new((across(*value, most), y), 4, colour(0).filled());
            root.draw(&dot).map_err(|e| e.to_string())?;
            let right = interval.map_or(*value, |(_, high)| high.max(*value));
            let right = dots.iter().copied().fold(right, f64::max);
            write(root, &style.value(*value), (across(right, most) + 8, y), HPos::Left)?;
        }
    }
    axis_below(root, &axis.name, most, style, row_at(rows.len()))
}

pub(super) fn bars_of(root: &Area<'_>, axis: &str, bars: &[(String, f64)]) -> Drawn {
    let values = || bars.iter().map(|(_, value)| *value);
    let (most, style) = (end(false, values()), NumberStyle::of(false, values()));
    for (at, (name, value)) in bars.iter().enumerate() {
        let y = row_at(at);
        write(root, name, (LEFT - 10, y), HPos::Right)?;
        let corners = [(LEFT, y - 7), (across(*value, most), y + 7)];
        let bar = Rectangle::new(corners, colour(0).filled());
        root.draw(&bar).map_err(|e| e.to_string())?;
        write(root, &style.value(*value), (across(*value, most) + 6, y), HPos::Left)?;
    }
    axis_below(root, axis, most, style, row_at(bars.len()))
}

/// Bars whose parts add up; the parts are named above them.
pub(super) fn stacked_bars(
    root: &Area<'_>,
    axis: &str,
    parts: &[String],
    bars: &[(String, Vec<f64>)],
) -> Drawn {
    let most = end(false, bars.iter().map(|(_, values)| values.iter().sum()));
    let all = bars.iter().flat_map(|(_, values)| values.iter().copied());
    let style = NumberStyle::of(false, all);
    for (at, part) in parts.iter().enumerate() {
        let x = LEFT + 170 * i32::try_from(at).unwrap_or(0);
        let corners = [(x, 5), (x + 12, 17)];
        root.draw(&Rectangle::new(corners, colour(at).filled())).map_err(|e| e.to_string())?;
        write(root, part, (x + 18, 11), HPos::Left)?;
    }
    let row_at = |row: usize| row_at(row) + 24;
    for (at, (name, values)) in bars.iter().enumerate() {
        let y = row_at(at);
        write(root, name, (LEFT - 10, y), HPos::Right)?;
        let mut begin = 0.0;
        for (part, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            // A gap between the parts, for those who do not see the colours.
            let left = across(begin, most) + i32::from(begin > 0.0);
            begin += value;
            let corners = [(left, y - 7), (across(begin, most).max(left + 1), y + 7)];
            let bar = Rectangle::new(corners, colour(part).filled());
            root.draw(&bar).map_err(|e| e.to_string())?;
        }
        let numbers: Vec<String> = values.iter().map(|value| style.value(*value)).collect();
        write(root, &numbers.join(" + "), (across(begin, most) + 6, y), HPos::Left)?;
    }
    axis_below(root, axis, most, style, row_at(bars.len()))
}
