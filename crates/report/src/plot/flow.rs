//! How many went from each state to each other.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use retold::escaping::printable;
use retold_figures::{PictureFlow, PictureLink};

use super::picture_layout::ForestLayout;
use super::{Area, Drawn, LEFT, NAME, colour, pixel, write};

/// The places of a flow: from where its bands begin to where they end, in pixels.
struct FlowPlaces {
    from: i32,
    to: i32,
    top: i32,
    /// The height of all bands together.
    room: f64,
    /// Between two states: their names do not touch.
    gap: f64,
    /// The width of the bars at the ends.
    bar: i32,
    font: i32,
    /// The longest name of a state, in characters.
    longest: usize,
}

/// The height of all bands of a picture, in letters.
const BANDS: i32 = 9;

/// A chart: how many went from each state on the left to each on the right.
pub(super) fn flow(
    root: &Area<'_>,
    first: &str,
    second: &str,
    links: &[(String, String, u32)],
) -> Drawn {
    let mut values: Vec<String> = Vec::new();
    for name in links.iter().flat_map(|(from, to, _)| [from, to]) {
        if !values.contains(name) {
            values.push(name.clone());
        }
    }
    let place = |name: &String| values.iter().position(|it| it == name).unwrap_or(0);
    let link = |(from, to, count): &(String, String, u32)| PictureLink {
        first: place(from),
        last: place(to),
        count: u64::from(*count),
    };
    let links = links.iter().map(link).collect();
    let gap = 14.0;
    let places = FlowPlaces {
        from: LEFT,
        to: 530,
        top: 24,
        room: 300.0 - gap * values.len() as f64,
        gap,
        bar: 12,
        font: 12,
        longest: NAME - 6,
    };
    draw_bands(root, &PictureFlow { name: String::new(), values, links }, &places)?;
    write(root, first, (places.from, 10), HPos::Center)?;
    write(root, second, (places.to, 10), HPos::Center)
}

/// The height of the flows of a figure.
pub(super) fn flows_height(layout: &ForestLayout, flows: &[PictureFlow]) -> i32 {
    flows.iter().map(|flow| flow_height(layout, flow)).sum()
}

fn flow_height(layout: &ForestLayout, flow: &PictureFlow) -> i32 {
    let gaps = i32::try_from(flow.values.len()).unwrap_or(0) * gap(layout);
    (BANDS + 4) * layout.font + gaps
}

fn gap(layout: &ForestLayout) -> i32 {
    layout.font * 5 / 4
}

/// The flows of a figure, one below the other.
pub(super) fn draw_flows(
    root: &Area<'_>,
    layout: &ForestLayout,
    flows: &[PictureFlow],
    mut top: i32,
) -> Drawn {
    let font = layout.font;
    let side = layout.width * 35 / 100;
    for flow in flows {
        let middle = layout.width / 2;
        layout.text(root, &flow.text(), (middle, top + font), HPos::Center)?;
        layout.small(root, "first", (side, top + font * 5 / 2), HPos::Right)?;
        layout.small(root, "last", (layout.width - side, top + font * 5 / 2), HPos::Left)?;
        // A letter is about half as wide as high; the number follows.
        let letters = usize::try_from(side / (font * 55 / 100).max(1)).unwrap_or(0);
        let places = FlowPlaces {
            from: side,
            to: layout.width - side,
            top: top + font * 7 / 2,
            room: f64::from(BANDS * font),
            gap: f64::from(gap(layout)),
            bar: font * 2 / 3,
            font: font * 9 / 10,
            longest: letters.saturating_sub(8).max(6),
        };
        draw_bands(root, flow, &places)?;
        top += flow_height(layout, flow);
    }
    Ok(())
}

fn draw_bands(root: &Area<'_>, flow: &PictureFlow, places: &FlowPlaces) -> Drawn {
    let PictureFlow { values, links, .. } = flow;
    let all: u64 = links.iter().map(|link| link.count).sum();
    let scale = places.room / all.max(1) as f64;
    // Where each state begins, how high it is, and how many it has.
    let states = |side: fn(&PictureLink) -> usize| {
        let mut at = f64::from(places.top);
        let state = |value: usize| {
            let sum: u64 = links.iter().filter(|it| side(it) == value).map(|it| it.count).sum();
            let (start, height) = (at, sum as f64 * scale);
            at += height + if sum > 0 { places.gap } else { 0.0 };
            (start, height, sum)
        };
        (0..values.len()).map(state).collect::<Vec<(f64, f64, u64)>>()
    };
    let (left, right) = (states(|link| link.first), states(|link| link.last));
    let (from, to) = (places.from, places.to);
    let mut taken = [vec![0.0; values.len()], vec![0.0; values.len()]];
    let mut links: Vec<&PictureLink> = links.iter().filter(|link| link.count > 0).collect();
    links.sort_by_key(|link| (link.first, link.last));
    for PictureLink { first, last, count } in links {
        let height = *count as f64 * scale;
        let begin = (from + places.bar, left[*first].0 + taken[0][*first]);
        let end = (to, right[*last].0 + taken[1][*last]);
        taken[0][*first] += height;
        taken[1][*last] += height;
        // Those who stayed are lighter, so that changes stand out.
        let strength = if first == last { 0.35 } else { 0.75 };
        let band = Polygon::new(band(begin, end, height), colour(*first).mix(strength).filled());
        root.draw(&band).map_err(|e| e.to_string())?;
    }
    for (side, x, across) in [(&left, from, HPos::Right), (&right, to, HPos::Left)] {
        for (at, (start, height, sum)) in side.iter().enumerate().filter(|(_, it)| it.2 > 0) {
            let (y, end) = (pixel(*start), pixel(start + height));
            let corners = [(x, y), (x + places.bar, end.max(y + 1))];
            root.draw(&Rectangle::new(corners, colour(at).filled())).map_err(|e| e.to_string())?;
            let place = if x == from { x - 6 } else { x + places.bar + 6 };
            let label = format!("{} ({sum})", printable(&values[at], places.longest));
            let font = ("sans-serif", places.font).into_font().color(&BLACK);
            let style = font.pos(Pos::new(across, VPos::Center));
            let text = Text::new(label, (place, i32::midpoint(y, end)), style);
            root.draw(&text).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// A band of some height that bends from one upper corner on the left to another on the right.
fn band(left: (i32, f64), right: (i32, f64), height: f64) -> Vec<(i32, i32)> {
    let steps = 24;
    let upper = |step: i32| {
        let share = f64::from(step) / f64::from(steps);
        let eased = share * share * (3.0 - 2.0 * share);
        let x = f64::from(left.0) + f64::from(right.0 - left.0) * share;
        (pixel(x), left.1 + (right.1 - left.1) * eased)
    };
    let above = (0..=steps).map(upper).map(|(x, y)| (x, pixel(y)));
    let below = (0..=steps).rev().map(upper).map(|(x, y)| (x, pixel(y + height)));
    above.chain(below).collect()
}
