//! Groups that are rounds: a line for each of the others, with intervals.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold_figures::{PictureLine, PictureLines};

use super::picture_layout::ForestLayout;
use super::{Area, COLOURS, Drawn, pixel};

/// The height of the plot, with the rounds below it and a line for each name.
pub(super) fn lines_height(layout: &ForestLayout, all: &PictureLines) -> i32 {
    plot_height(layout) + layout.font * 4 + names_height(layout, all)
}

fn plot_height(layout: &ForestLayout) -> i32 {
    layout.font * 14
}

fn names_height(layout: &ForestLayout, all: &PictureLines) -> i32 {
    let names = all.lines.iter().filter(|line| !line.name.is_empty());
    i32::try_from(names.count()).unwrap_or(0) * layout.font * 3 / 2
}

pub(super) fn draw_lines(root: &Area<'_>, layout: &ForestLayout, all: &PictureLines) -> Drawn {
    let (left, right) = (layout.font * 5, layout.width - 2 * layout.font);
    let top = layout.top + names_height(layout, all) + layout.font / 2;
    let below = top + plot_height(layout);
    let (first, last) = match all.rounds.as_slice() {
        [first, .., last] => (*first, *last),
        _ => return Ok(()),
    };
    let x = |round: f64| left + pixel((round - first) / (last - first) * f64::from(right - left));
    let y = |value: f64| below - pixel(all.axis.place(value) * f64::from(below - top));
    for (value, text) in &all.axis.ticks {
        let line = PathElement::new(vec![(left, y(*value)), (right, y(*value))], BLACK.mix(0.12));
        root.draw(&line).map_err(|e| e.to_string())?;
        layout.small(root, text, (left - layout.font / 2, y(*value)), HPos::Right)?;
    }
    // As many rounds are named as have room.
    let room = layout.font * 3;
    let mut free = i32::MIN;
    for round in all.rounds.iter().filter(|round| {
        let is_free = x(**round) >= free;
        free = if is_free { x(**round) + room } else { free };
        is_free
    }) {
        layout.small(root, &round.to_string(), (x(*round), below + layout.font), HPos::Center)?;
    }
    let middle = ((left + right) / 2, below + layout.font * 5 / 2);
    layout.small(root, &all.label, middle, HPos::Center)?;
    for (line, at) in all.lines.iter().zip(0..) {
        draw_line(root, layout, line, at, &x, &y)?;
    }
    Ok(())
}

/// A line with the intervals of its rounds, and its name above the plot.
fn draw_line(
    root: &Area<'_>,
    layout: &ForestLayout,
    line: &PictureLine,
    at: i32,
    x: &dyn Fn(f64) -> i32,
    y: &dyn Fn(f64) -> i32,
) -> Drawn {
    let colour = COLOURS[usize::try_from(at).unwrap_or(0) % COLOURS.len()];
    let points = line.points.iter().filter_map(|(round, row)| Some((*round, row.value?)));
    let points: Vec<(i32, i32)> = points.map(|(round, value)| (x(round), y(value))).collect();
    for (round, row) in &line.points {
        if let Some((low, high)) = row.interval {
            let whisker = vec![(x(*round), y(low)), (x(*round), y(high))];
            let whisker = PathElement::new(whisker, colour.mix(0.6));
            root.draw(&whisker).map_err(|e| e.to_string())?;
        }
    }
    // Lines differ in the marks of their rounds, too: they can be told apart in grey.
    let radius = layout.font / 4 + 1;
    for point in &points {
        let mark =
            Circle::new(*point, radius, ShapeStyle { filled: at % 2 == 0, ..colour.filled() });
        root.draw(&mark).map_err(|e| e.to_string())?;
    }
    let path = PathElement::new(points, colour.stroke_width(2));
    root.draw(&path).map_err(|e| e.to_string())?;
    if !line.name.is_empty() {
        let height = layout.top + at * layout.font * 3 / 2 + layout.font / 2;
        let key = vec![(layout.font, height), (layout.font * 3, height)];
        root.draw(&PathElement::new(key, colour.stroke_width(2))).map_err(|e| e.to_string())?;
        let mark = (layout.font * 2, height);
        let mark = Circle::new(mark, radius, ShapeStyle { filled: at % 2 == 0, ..colour.filled() });
        root.draw(&mark).map_err(|e| e.to_string())?;
        layout.text(root, &line.name, (layout.font * 7 / 2, height), HPos::Left)?;
    }
    Ok(())
}
