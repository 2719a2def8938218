//! Plots as SVG.
//!
//! Lines, text and colours are those of print: the page's style sheet changes black for dark mode.
//! Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart;
//! names are written next to what they name where there is room.

mod agreement;
mod axis;
mod bars;
mod distribution;
mod flow;
mod forest;
mod limited;
mod lines;
mod network;
mod picture_layout;
mod rounds;

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use retold::escaping::printable;
use retold_study::charts::{Chart, ChartData};

pub(crate) use agreement::agreement;
pub(crate) use forest::forest;
pub(crate) use limited::limit;
pub use picture_layout::PictureSize;

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
pub(crate) fn svg(chart: &Chart) -> Result<String, Box<dyn Error + Send + Sync>> {
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
    let rows = |n: usize| 50 + 20 * u32::try_from(n.max(1)).unwrap_or(u32::MAX / 40);
    match data {
        ChartData::Flow { .. } | ChartData::Lines { .. } | ChartData::Points { .. } => 360,
        ChartData::Estimates { rows: all, .. } => rows(all.len()),
        ChartData::Bars { bars, .. } => rows(bars.len()),
        ChartData::Stacked { bars, .. } => 24 + rows(bars.len()),
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
        ChartData::Flow { from, to, links } => flow::flow(root, from, to, links),
        ChartData::Estimates { axis, rows } => bars::estimates(root, axis, rows),
        ChartData::Lines { x, y, series } => lines::lines(root, x, y, series),
        ChartData::Bars { axis, bars } => bars::bars_of(root, axis, bars),
        ChartData::Stacked { axis, parts, bars } => bars::stacked_bars(root, axis, parts, bars),
        ChartData::Points { x, y, groups } => lines::points(root, x, y, groups),
        ChartData::Matrix { from, to, names, cells } => {
            network::matrix(root, from, to, names, cells)
        }
        ChartData::Graph { from, to, names, links } => network::graph(root, from, to, names, links),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place in the picture")]
fn pixel(value: f64) -> i32 {
    value.round() as i32
}

#[cfg(test)]
mod tests {
    use retold_study::charts::ChartAxis;

    use super::*;

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
            ChartData::Lines {
                x: "x".to_owned(),
                y: ChartAxis::number("y"),
                series: vec![named(3)],
            },
            ChartData::Lines {
                x: "x".to_owned(),
                y: ChartAxis::number("y"),
                series: vec![named(12)],
            },
        ] {
            let found = texts(data.clone());
            assert!(found.iter().any(|text| text == "2"), "{found:?}");
            assert!(!found.iter().any(|text| text.contains('.')), "{data:?}: {found:?}");
        }
    }
}
