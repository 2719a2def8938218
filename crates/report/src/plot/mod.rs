//! Plots as SVG.
//!
//! Lines, text and colours are those of print: the page's style sheet changes black for dark mode.
//! Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart;
//! names are written next to what they name where there is room.

mod network;

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use retold::escaping::printable;
use retold_study::charts::{Chart, ChartData, EstimateRow};

/// The palette of Okabe and Ito, without black and yellow.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

const WIDTH: u32 = 760;

/// The longest name that is written, in characters.
const NAME: usize = 34;

/// Where names end and bars begin, in pixels.
const LEFT: i32 = 230;

type Drawn = Result<(), Box<dyn Error + Send + Sync>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A plot as an SVG element.
///
/// # Errors
/// If the library cannot draw it, which does not happen with finite numbers.
pub fn svg(chart: &Chart) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, height(&chart.data)));
        let root = root.into_drawing_area();
        draw(&root, &chart.data)?;
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

fn height(data: &ChartData) -> u32 {
    let rows = |n: usize, each: u32| 50 + each * u32::try_from(n.clamp(1, 400)).unwrap_or(400);
    match data {
        ChartData::Flow { .. } | ChartData::Lines { .. } | ChartData::Points(_) => 360,
        ChartData::Estimates { rows: all, .. } => rows(all.len(), 20),
        ChartData::Bars { bars, .. } => rows(bars.len(), 20),
        ChartData::Stacked { bars, .. } => 24 + rows(bars.len(), 20),
        ChartData::Matrix { names, .. } => network::matrix_height(names.len()),
        ChartData::Graph { names, .. } => network::graph_height(names.len()),
    }
}

fn colour(at: usize) -> RGBColor {
    COLOURS[at % COLOURS.len()]
}

fn style(size: i32, across: HPos) -> TextStyle<'static> {
    let font = ("sans-serif", size).into_font().color(&BLACK);
    font.pos(Pos::new(across, VPos::Center))
}

fn write(root: &Area<'_>, text: &str, at: (i32, i32), across: HPos) -> Drawn {
    let text = Text::new(printable(text, NAME), at, style(13, across));
    Ok(root.draw(&text).map_err(|e| e.to_string())?)
}

fn draw(root: &Area<'_>, data: &ChartData) -> Drawn {
    match data {
        ChartData::Flow { from, to, links } => flow(root, from, to, links),
        ChartData::Estimates { axis, most, rows } => estimates(root, axis, *most, rows),
        ChartData::Lines { x, y, series } => lines(root, x, y, series),
        ChartData::Bars { axis, bars } => bars_of(root, axis, bars),
        ChartData::Stacked { axis, parts, bars } => stacked(root, axis, parts, bars),
        ChartData::Points(groups) => points(root, groups),
        ChartData::Matrix { from, to, names, cells } => {
            network::matrix(root, from, to, names, cells)
        }
        ChartData::Graph { from, to, names, links } => network::graph(root, from, to, names, links),
    }
}

/// The pixel of a value on an axis from 0 to `most`.
#[expect(clippy::cast_possible_truncation, reason = "a place in the picture")]
fn across(value: f64, most: f64) -> i32 {
    let room = f64::from(WIDTH) - f64::from(LEFT) - 90.0;
    LEFT + (room * (value / most.max(1e-12)).clamp(0.0, 1.0)).round() as i32
}

/// The numbers at an axis from 0 to `most`: of counts, whole ones.
fn ticks(most: f64, is_whole: bool) -> Vec<f64> {
    if !is_whole {
        return (0..=4).map(|tick| most * f64::from(tick) / 4.0).collect();
    }
    // The smallest of 1, 2, 5, 10, 20, .. with which there are at most five steps.
    let powers = (0..=15).map(|power| 10.0_f64.powi(power));
    let steps = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * power));
    let step = steps.clone().find(|step| most / step <= 5.0).unwrap_or(most);
    (0..=5).map(|tick| step * f64::from(tick)).take_while(|value| *value <= most).collect()
}

/// Whether numbers are counts.
fn are_whole(mut values: impl Iterator<Item = f64>) -> bool {
    values.all(|value| value.fract() == 0.0)
}

fn axis_below(root: &Area<'_>, axis: &str, most: f64, is_whole: bool, below: i32) -> Drawn {
    let ends = vec![(across(0.0, most), below), (across(most, most), below)];
    root.draw(&PathElement::new(ends, BLACK)).map_err(|e| e.to_string())?;
    for value in ticks(most, is_whole) {
        let at = across(value, most);
        root.draw(&PathElement::new(vec![(at, below), (at, below + 4)], BLACK))
            .map_err(|e| e.to_string())?;
        write(root, &number(value), (at, below + 13), HPos::Center)?;
    }
    write(root, axis, ((LEFT + across(most, most)) / 2, below + 30), HPos::Center)
}

/// A number in few digits.
fn number(value: f64) -> String {
    let text = match value.abs() {
        0.0 => "0".to_owned(),
        small if small < 10.0 => format!("{value:.2}"),
        small if small < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn row_at(row: usize) -> i32 {
    i32::try_from(row).unwrap_or(i32::MAX / 40).saturating_mul(20) + 14
}

fn estimates(root: &Area<'_>, axis: &str, most: f64, rows: &[EstimateRow]) -> Drawn {
    for (at, EstimateRow { name, value, interval, .. }) in rows.iter().take(400).enumerate() {
        let y = row_at(at);
        write(root, name, (LEFT - 10, y), HPos::Right)?;
        if let Some((low, high)) = interval {
            let line = vec![(across(*low, most), y), (across(*high, most), y)];
            let line = PathElement::new(line, colour(0).stroke_width(2));
            root.draw(&line).map_err(|e| e.to_string())?;
        }
        if let Some(value) = value {
            let dot = Circle::new((across(*value, most), y), 4, colour(0).filled());
            root.draw(&dot).map_err(|e| e.to_string())?;
            let right = interval.map_or(*value, |(_, high)| high.max(*value));
            write(root, &number(*value), (across(right, most) + 8, y), HPos::Left)?;
        }
    }
    axis_below(root, axis, most, false, row_at(rows.len().min(400)))
}

fn bars_of(root: &Area<'_>, axis: &str, bars: &[(String, f64)]) -> Drawn {
    let most = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max).max(1e-12);
    for (at, (name, value)) in bars.iter().take(400).enumerate() {
        let y = row_at(at);
        write(root, name, (LEFT - 10, y), HPos::Right)?;
        let corners = [(LEFT, y - 7), (across(*value, most), y + 7)];
        let bar = Rectangle::new(corners, colour(0).filled());
        root.draw(&bar).map_err(|e| e.to_string())?;
        write(root, &number(*value), (across(*value, most) + 6, y), HPos::Left)?;
    }
    let is_whole = are_whole(bars.iter().map(|(_, value)| *value));
    axis_below(root, axis, most, is_whole, row_at(bars.len().min(400)))
}

/// Bars whose parts add up; the parts are named above them.
fn stacked(root: &Area<'_>, axis: &str, parts: &[String], bars: &[(String, Vec<f64>)]) -> Drawn {
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let most = bars.iter().map(|(_, values)| sum(values)).fold(0.0, f64::max).max(1e-12);
    for (at, part) in parts.iter().enumerate() {
        let x = LEFT + 170 * i32::try_from(at).unwrap_or(0);
        let corners = [(x, 5), (x + 12, 17)];
        root.draw(&Rectangle::new(corners, colour(at).filled())).map_err(|e| e.to_string())?;
        write(root, part, (x + 18, 11), HPos::Left)?;
    }
    let row_at = |row: usize| row_at(row) + 24;
    for (at, (name, values)) in bars.iter().take(400).enumerate() {
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
        let numbers: Vec<String> = values.iter().map(|value| number(*value)).collect();
        write(root, &numbers.join(" + "), (across(begin, most) + 6, y), HPos::Left)?;
    }
    let is_whole = are_whole(bars.iter().flat_map(|(_, values)| values.iter().copied()));
    axis_below(root, axis, most, is_whole, row_at(bars.len().min(400)))
}

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

fn lines(root: &Area<'_>, x: &str, y: &str, series: &[(String, Vec<(f64, f64)>)]) -> Drawn {
    let all = || series.iter().flat_map(|(_, points)| points.iter().copied());
    let ((left, right), (_, top)) = (span(all().map(|p| p.0)), span(all().map(|p| p.1)));
    let low = span(all().map(|p| p.1)).0.min(0.0);
    let (whole_x, whole_y) = (are_whole(all().map(|p| p.0)), are_whole(all().map(|p| p.1)));
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
        .y_desc(printable(y, NAME))
        .label_style(style(12, HPos::Center))
        .axis_desc_style(style(13, HPos::Center))
        .x_labels(labels(right - left, whole_x))
        .y_labels(labels(top - low, whole_y))
        .x_label_formatter(&|value| number(*value))
        .y_label_formatter(&|value| number(*value))
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
fn labels(length: f64, is_whole: bool) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 10")]
    let whole = length.clamp(1.0, 10.0) as usize;
    if is_whole { whole + 1 } else { 10 }
}

/// The corners of a mark around a place, in pixels: beyond the number of colours, groups differ in
/// shape as well.
fn mark(at: usize) -> Vec<(i32, i32)> {
    match (at / COLOURS.len()) % 3 {
        0 => vec![(-3, -3), (3, -3), (3, 3), (-3, 3)],
        1 => vec![(0, -5), (5, 4), (-5, 4)],
        _ => vec![(0, -5), (5, 0), (0, 5), (-5, 0)],
    }
}

fn points(root: &Area<'_>, groups: &[(String, Vec<[f64; 2]>)]) -> Drawn {
    let all = || groups.iter().flat_map(|(_, points)| points.iter().copied());
    let ((left, right), (low, top)) = (span(all().map(|p| p[0])), span(all().map(|p| p[1])));
    let mut chart = ChartBuilder::on(root)
        .margin(12)
        .margin_right(LEGEND)
        .x_label_area_size(24)
        .y_label_area_size(40)
        .build_cartesian_2d(left..right, low..top)
        .map_err(|e| e.to_string())?;
    chart
        .configure_mesh()
        .disable_mesh()
        .label_style(style(11, HPos::Center))
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

/// The room for the names of series, in pixels.
const LEGEND: i32 = 210;

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
    for (at, name) in names.take(18).enumerate() {
        let y = row_at(at) + 6;
        let shape: Vec<(i32, i32)> = mark(at).iter().map(|(x, z)| (left + x, y + z)).collect();
        root.draw(&Polygon::new(shape, colour(at).filled())).map_err(|e| e.to_string())?;
        let text = Text::new(both_ends(name), (left + 12, y), style(12, HPos::Left));
        root.draw(&text).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// How many went from each state on the left to each on the right.
fn flow(root: &Area<'_>, first: &str, second: &str, links: &[(String, String, u32)]) -> Drawn {
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

#[expect(clippy::cast_possible_truncation, reason = "a place in the picture")]
fn pixel(value: f64) -> i32 {
    value.round() as i32
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_whole_ticks() {
        assert_eq!(ticks(1.0, true), [0.0, 1.0]);
        assert_eq!(ticks(3.0, true), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(ticks(6.0, true), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(1234.0, true), [0.0, 500.0, 1000.0]);
        assert_eq!(ticks(1.0, false), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(ticks(0.0, true), [0.0]);
    }

    /// The texts of a plot.
    fn texts(data: ChartData) -> Vec<String> {
        let chart = Chart { name: "plot".to_owned(), title: "plot".to_owned(), data };
        let svg = svg(&chart).unwrap();
        let texts = svg.split("<text").skip(1).filter_map(|rest| rest.split('>').nth(1));
        texts.map(|text| text.split('<').next().unwrap().trim().to_owned()).collect()
    }

    #[test]
    fn no_axis_of_counts_has_a_fraction() {
        let line = |most: u32| (1..=most).map(|n| (f64::from(n), f64::from(n % 3))).collect();
        let named = |most: u32| ("line".to_owned(), line(most));
        for data in [
            ChartData::Bars { axis: "n".to_owned(), bars: vec![("a".to_owned(), 3.0)] },
            ChartData::Stacked {
                axis: "n".to_owned(),
                parts: vec!["x".to_owned()],
                bars: vec![("a".to_owned(), vec![2.0])],
            },
            ChartData::Lines { x: "x".to_owned(), y: "y".to_owned(), series: vec![named(3)] },
            ChartData::Lines { x: "x".to_owned(), y: "y".to_owned(), series: vec![named(12)] },
        ] {
            let found = texts(data.clone());
            assert!(found.iter().any(|text| text == "2"), "{found:?}");
            assert!(!found.iter().any(|text| text.contains('.')), "{data:?}: {found:?}");
        }
    }
}
