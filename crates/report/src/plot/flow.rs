//! How many went from each state to each other.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold::escaping::printable;

use super::{Area, Drawn, LEFT, NAME, colour, pixel, style, write};

/// How many went from each state on the left to each on the right.
pub(super) fn flow(
    root: &Area<'_>,
    first: &str,
    second: &str,
    links: &[(String, String, u32)],
) -> Drawn {
    let mut names: Vec<&str> = Vec::new();
    for name in links.iter().flat_map(|(from, to, _)| [from, to]) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let all: u32 = links.iter().map(|(_, _, n)| n).sum();
    let (top, room, gap) = (24.0, 300.0, 8.0);
    let scale = (room - gap * names.len() as f64) / f64::from(all.max(1));
    // Where each state begins, and how much of it is taken.
    let starts = |side: &dyn Fn(&(String, String, u32)) -> &str| {
        let mut at = top;
        let mut starts = Vec::new();
        for name in &names {
            let sum: u32 = links.iter().filter(|l| side(l) == *name).map(|(_, _, n)| n).sum();
            let height = f64::from(sum) * scale;
            starts.push((at, height, sum));
            at += height + if sum > 0 { gap } else { 0.0 };
        }
        starts
    };
    let (left, right) = (starts(&|l| l.0.as_str()), starts(&|l| l.1.as_str()));
    let (from, to) = (LEFT, 530);
    let mut taken = [vec![0.0; names.len()], vec![0.0; names.len()]];
    for (at, name) in names.iter().enumerate() {
        for (target, end) in names.iter().enumerate() {
            let n: u32 = links
                .iter()
                .filter(|(f, t, _)| (f.as_str(), t.as_str()) == (*name, *end))
                .map(|(_, _, n)| n)
                .sum();
            let height = f64::from(n) * scale;
            if n == 0 {
                continue;
            }
            let (y, z) = (left[at].0 + taken[0][at], right[target].0 + taken[1][target]);
            taken[0][at] += height;
            taken[1][target] += height;
            let band = band((from + 12, y), (to, z), height);
            // Those who stayed are lighter, so that changes stand out.
            let strength = if at == target { 0.35 } else { 0.75 };
            let band = Polygon::new(band, colour(at).mix(strength).filled());
            root.draw(&band).map_err(|e| e.to_string())?;
        }
    }
    for (side, x, across) in [(&left, from, HPos::Right), (&right, to, HPos::Left)] {
        for (at, (start, height, sum)) in side.iter().enumerate().filter(|(_, s)| s.2 > 0) {
            let (y, end) = (pixel(*start), pixel(start + height));
            let corners = [(x, y), (x + 12, end.max(y + 1))];
            root.draw(&Rectangle::new(corners, colour(at).filled())).map_err(|e| e.to_string())?;
            let place = if x == from { x - 8 } else { x + 20 };
            let label = format!("{} ({sum})", printable(names[at], NAME - 6));
            let text = Text::new(label, (place, (y + end) / 2), style(12, across));
            root.draw(&text).map_err(|e| e.to_string())?;
        }
    }
    write(root, first, (from, 10), HPos::Center)?;
    write(root, second, (to, 10), HPos::Center)
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
