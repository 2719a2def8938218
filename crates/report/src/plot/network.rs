//! Who did what to whom: as a matrix, and as a graph.

use std::f64::consts::{PI, TAU};

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold::escaping::printable;

use super::axis::number;
use super::{Area, Drawn, LEFT, NAME, WIDTH, colour, pixel, style, write};

/// The most names that are drawn.
const MOST: usize = 400;

/// The most links that are drawn: more would hide each other.
const MOST_LINKS: usize = 240;

/// The side of a cell, in pixels.
fn cell_of(names: usize) -> f64 {
    (500.0 / names.clamp(1, MOST) as f64).min(22.0)
}

pub(super) fn matrix_height(names: usize) -> u32 {
    let cells = names.clamp(1, MOST) as f64 * cell_of(names);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a height")]
    let cells = cells.ceil() as u32;
    90 + cells
}

/// A short form of a name where there is little room: names differ at their ends, as in `agent_3`.
fn short(name: &str) -> String {
    printable(name.rsplit(['_', ' ']).next().unwrap_or(name), 4)
}

pub(super) fn matrix(
    root: &Area<'_>,
    from: &str,
    to: &str,
    names: &[String],
    cells: &[(usize, usize, f64)],
) -> Drawn {
    let cell = cell_of(names.len());
    let most = cells.iter().map(|cell| cell.2.abs()).fold(0.0, f64::max).max(1e-12);
    let top = 70;
    let place = |at: usize| pixel(at as f64 * cell);
    // Names that would be written over each other are left out.
    let (rows, columns) = ((14.0 / cell).ceil(), (24.0 / cell).ceil());
    let is_named = |at: usize, step: f64| at as f64 % step < 0.5;
    for (at, name) in names.iter().take(MOST).enumerate() {
        let middle = pixel((at as f64 + 0.5) * cell);
        if is_named(at, rows) {
            write(root, name, (LEFT - 10, top + middle), HPos::Right)?;
        }
        if is_named(at, columns) {
            write(root, &short(name), (LEFT + middle, top - 10), HPos::Center)?;
        }
    }
    for (row, column, value) in cells.iter().filter(|cell| cell.0 < MOST && cell.1 < MOST) {
        let (x, y) = (LEFT + place(*column), top + place(*row));
        let gap = i32::from(cell > 4.0);
        let ends = (LEFT + place(column + 1) - gap, top + place(row + 1) - gap);
        // Positive and negative values differ in colour, not only in strength.
        let strength = 0.25 + 0.75 * value.abs() / most;
        let shade = colour(usize::from(*value < 0.0)).mix(strength);
        let corners = [(x, y), (ends.0.max(x + 1), ends.1.max(y + 1))];
        root.draw(&Rectangle::new(corners, shade.filled())).map_err(|e| e.to_string())?;
        if cell > 18.0 {
            let middle = pixel(cell / 2.0);
            let ink = ink(colour(usize::from(*value < 0.0)), strength);
            let digits = style(13, HPos::Center).color(&ink);
            let text =
                Text::new(printable(&number(*value), NAME), (x + middle, y + middle), digits);
            root.draw(&text).map_err(|e| e.to_string())?;
        }
    }
    let note = format!("{from} in rows, {to} in columns; strongest: {}", number(most));
    note_above(root, &note)
}

/// The two backgrounds of the page, the text on each as the style sheet has it, and the colour that the sheet gives blue in
/// dark mode.
const LIGHT: (RGBColor, RGBColor) = (RGBColor(255, 255, 255), RGBColor(0, 0, 0));
const DARK: (RGBColor, RGBColor) = (RGBColor(23, 24, 27), RGBColor(232, 232, 232));
const DARK_BLUE: RGBColor = RGBColor(43, 143, 208);

/// The colour of digits on a cell, so that they can be read in both modes: the style sheet replaces black by the light text
/// of dark mode and white by its background, and leaves colours that are nearly black or nearly white as they are.
fn ink(cell: RGBColor, strength: f64) -> RGBColor {
    let in_dark = if cell == colour(0) { DARK_BLUE } else { cell };
    let light = mix(cell, LIGHT.0, strength);
    let dark = mix(in_dark, DARK.0, strength);
    let is_black_in_light = contrast(light, LIGHT.1) >= contrast(light, LIGHT.0);
    let is_black_in_dark = contrast(dark, DARK.0) >= contrast(dark, DARK.1);
    match (is_black_in_light, is_black_in_dark) {
        (true, false) => RGBColor(0, 0, 0),
        (false, true) => RGBColor(255, 255, 255),
        (true, true) => RGBColor(1, 1, 1),
        (false, false) => RGBColor(254, 254, 254),
    }
}

/// A colour with some strength over another.
fn mix(above: RGBColor, below: RGBColor, strength: f64) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
    let part = |above: u8, below: u8| {
        (f64::from(above) * strength + f64::from(below) * (1.0 - strength)).round() as u8
    };
    RGBColor(part(above.0, below.0), part(above.1, below.1), part(above.2, below.2))
}

/// The contrast of two colours, from 1 to 21 (WCAG 2).
fn contrast(one: RGBColor, other: RGBColor) -> f64 {
    let linear = |part: u8| match f64::from(part) / 255.0 {
        low if low <= 0.04045 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    };
    let luminance =
        |c: RGBColor| 0.2126 * linear(c.0) + 0.7152 * linear(c.1) + 0.0722 * linear(c.2);
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

fn note_above(root: &Area<'_>, note: &str) -> Drawn {
    let text = Text::new(printable(note, 140), (20, 20), style(13, HPos::Left));
    Ok(root.draw(&text).map_err(|e| e.to_string())?)
}

/// The radius of the circle on which the names are.
fn radius(names: usize) -> f64 {
    if names > 30 { 310.0 } else { 200.0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a height")]
pub(super) fn graph_height(names: usize) -> u32 {
    (2.0 * radius(names)) as u32 + 120
}

/// Names on a circle, and links between them that are thick where they begin and thin where they
/// end. Of many links, the strongest are drawn.
pub(super) fn graph(
    root: &Area<'_>,
    from: &str,
    to: &str,
    names: &[String],
    links: &[(usize, usize, f64)],
) -> Drawn {
    let names = &names[..names.len().min(MOST)];
    let centre = (f64::from(WIDTH) / 2.0, radius(names.len()) + 75.0);
    let angle = |at: usize| TAU * at as f64 / names.len().max(1) as f64 - PI / 2.0;
    let on_circle = |at: usize, radius: f64| {
        (centre.0 + radius * angle(at).cos(), centre.1 + radius * angle(at).sin())
    };
    let is_drawn = |link: &&(usize, usize, f64)| {
        let (from, to, strength) = **link;
        from < names.len() && to < names.len() && from != to && strength > 0.0
    };
    let mut drawn: Vec<&(usize, usize, f64)> = links.iter().filter(is_drawn).collect();
    let (all, most) = (drawn.len(), drawn.iter().map(|link| link.2).fold(0.0, f64::max));
    // The strongest first; of equal ones, those of the first names.
    drawn.sort_by(|one, other| other.2.total_cmp(&one.2));
    drawn.truncate(MOST_LINKS);
    // The strongest are drawn last, above the others.
    for (from, to, strength) in drawn.iter().rev() {
        let share = strength / most;
        let radius = radius(names.len());
        let (begin, end) = (on_circle(*from, radius), on_circle(*to, radius));
        let shape = link_outline(begin, end, centre, 1.5 + 6.0 * share);
        let shade = colour(0).mix(0.35 + 0.5 * share);
        // A line along it, because its thin end may round to nothing.
        let line = shape.get(..shape.len() / 2).unwrap_or(&[]).to_vec();
        let line = PathElement::new(line, shade.stroke_width(1));
        root.draw(&line).map_err(|e| e.to_string())?;
        root.draw(&Polygon::new(shape, shade.filled())).map_err(|e| e.to_string())?;
    }
    let mut sums = vec![0.0; names.len()];
    for (from, to, strength) in links.iter().filter(is_drawn) {
        sums[*from] += strength;
        sums[*to] += strength;
    }
    let greatest = sums.iter().copied().fold(0.0, f64::max).max(1e-12);
    let is_crowded = names.len() > 30;
    for (at, name) in names.iter().enumerate() {
        let (x, y) = on_circle(at, radius(names.len()));
        let size = pixel(3.0 + if is_crowded { 3.0 } else { 6.0 } * (sums[at] / greatest).sqrt());
        let dot = Circle::new((pixel(x), pixel(y)), size, colour(1).filled());
        root.draw(&dot).map_err(|e| e.to_string())?;
        let place = on_circle(at, radius(names.len()) + 16.0);
        label(root, name, place, angle(at), is_crowded)?;
    }
    let shown = if all > MOST_LINKS {
        format!("the strongest {MOST_LINKS} of {all} links")
    } else {
        format!("{all} links")
    };
    note_above(
        root,
        &format!(
            "Each link is thick at the {from} and thin at the {to}; {shown}, the strongest: {}",
            number(most)
        ),
    )
}

/// A name at a place outside the circle: it begins or ends next to its dot, which is at an angle.
fn label(root: &Area<'_>, name: &str, at: (f64, f64), angle: f64, is_crowded: bool) -> Drawn {
    let text = if is_crowded { short(name) } else { printable(name, NAME / 2) };
    let across = match angle.cos() {
        right if right > 0.2 && !is_crowded => HPos::Left,
        left if left < -0.2 && !is_crowded => HPos::Right,
        _ => HPos::Center,
    };
    let size = if is_crowded { 10 } else { 12 };
    let text = Text::new(text, (pixel(at.0), pixel(at.1)), style(size, across));
    Ok(root.draw(&text).map_err(|e| e.to_string())?)
}

/// The outline of a link that bends towards the centre and gets thinner. Links in opposite
/// directions bend to different sides.
fn link_outline(
    begin: (f64, f64),
    end: (f64, f64),
    centre: (f64, f64),
    width: f64,
) -> Vec<(i32, i32)> {
    let ((x, y), (u, v), (a, b)) = (begin, end, centre);
    let (across, down) = (u - x, v - y);
    let length = (across * across + down * down).sqrt().max(1e-9);
    // To the left of the way from one end to the other.
    let side = (down / length, -across / length);
    let bend = 0.08 * length;
    let control = (
        (x + u) / 2.0 * 0.6 + a * 0.4 + side.0 * bend,
        (y + v) / 2.0 * 0.6 + b * 0.4 + side.1 * bend,
    );
    let steps = 16;
    let at = |step: i32, side_of: f64| {
        let t = f64::from(step) / f64::from(steps);
        let (p, q, r) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
        let place = (p * x + q * control.0 + r * u, p * y + q * control.1 + r * v);
        // Where the curve leads there.
        let (across, down) = (
            (1.0 - t) * (control.0 - x) + t * (u - control.0),
            (1.0 - t) * (control.1 - y) + t * (v - control.1),
        );
        let length = (across * across + down * down).sqrt().max(1e-9);
        let half = side_of * (width * (1.0 - t) + 1.2 * t) / 2.0;
        (pixel(place.0 + half * down / length), pixel(place.1 - half * across / length))
    };
    let there = (0..=steps).map(|step| at(step, 1.0));
    there.chain((0..=steps).rev().map(|step| at(step, -1.0))).collect()
}

#[cfg(test)]
mod tests {
    use retold_study::charts::{Chart, ChartData};

    use super::super::svg;

    /// A society of some agents in which each writes to some others.
    fn society(count: usize) -> (Vec<String>, Vec<(usize, usize, f64)>) {
        let names = (0..count).map(|at| format!("agent {at}")).collect();
        let link = |at: usize| {
            (1..8.min(count)).map(move |step| (at, (at + step * step) % count, step as f64))
        };
        (names, (0..count).flat_map(link).filter(|link| link.0 != link.1).collect())
    }

    fn drawn(data: ChartData) -> String {
        svg(&Chart { name: "test".to_owned(), title: "Test".to_owned(), data }).unwrap()
    }

    /// The numbers of an attribute.
    fn numbers(svg: &str, name: &str) -> Vec<f64> {
        let begin = format!(" {name}=\"");
        let values = svg.split(begin.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap());
        values.filter_map(|value| value.parse().ok()).collect()
    }

    #[test]
    fn ten_and_a_hundred_names_fit_into_the_picture() {
        for count in [2, 10, 100, 400] {
            let (names, links) = society(count);
            let (from, to) = ("sender".to_owned(), "recipient".to_owned());
            let graph = ChartData::Graph {
                from: from.clone(),
                to: to.clone(),
                names: names.clone(),
                links: links.clone(),
            };
            let matrix = ChartData::Matrix { from, to, names, cells: links.clone() };
            for svg in [drawn(graph), drawn(matrix)] {
                let height = numbers(&svg, "height")[0];
                assert!(height < 760.0, "{count}: {height}");
                for (name, most) in [("x", 760.0), ("y", height)] {
                    let places = numbers(&svg, name);
                    let inside = places.iter().all(|at| (0.0..=most).contains(at));
                    assert!(inside && !places.is_empty(), "{count} {name}: {places:?}");
                }
            }
        }
    }

    #[test]
    fn of_many_links_the_strongest_are_drawn() {
        let drawn = |count: usize| {
            let (names, links) = society(count);
            let (from, to) = ("sender".to_owned(), "recipient".to_owned());
            let all = links.len();
            (drawn(ChartData::Graph { from, to, names, links }), all)
        };
        let (few, all) = drawn(10);
        assert_eq!(few.matches("<polygon").count(), all);
        assert!(few.contains(&format!("{all} links")) && few.contains("agent 9"), "{few}");
        let (many, all) = drawn(100);
        assert_eq!(many.matches("<polygon").count(), super::MOST_LINKS);
        assert!(many.contains(&format!("the strongest 240 of {all} links")), "{many}");
        assert!(many.contains(">\n99\n<") && !many.contains("agent 99"), "short names");
    }
}
