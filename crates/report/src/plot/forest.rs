//! A figure: a dot with its interval for each group, and its difference to a baseline beside it, as in a forest plot.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use retold_figures::{FigurePicture, PicturePanel, PictureRow};

use super::distribution::{distribution_height, draw_distribution};
use super::flow::{draw_flows, flows_height};
use super::picture_layout::{ForestLayout, PictureSize, draw_axis, signed};
use super::rounds::{draw_lines, lines_height};
use super::{Area, Drawn, colour, pixel};

/// A panel, and where its axis begins and ends.
struct PlacedPanel<'a> {
    panel: &'a PicturePanel,
    /// The groups that its rows are of.
    groups: &'a [PictureRow],
    left: i32,
    right: i32,
    top: i32,
}

/// The panels, side by side where there is room, and else one below the other.
fn panels<'a>(layout: &ForestLayout, picture: &'a FigurePicture) -> Vec<PlacedPanel<'a>> {
    let (left, right) = (layout.names + layout.font, layout.width - 2 * layout.font);
    let groups = &picture.values.rows;
    let whole = PlacedPanel { panel: &picture.values, groups, left, right, top: layout.top };
    let Some(differences) = &picture.differences else { return vec![whole] };
    if layout.is_narrow() {
        let top = layout.top + layout.height(&picture.values);
        return vec![whole, PlacedPanel { panel: differences, groups, left, right, top }];
    }
    let (middle, gap) = ((left + right) / 2, 2 * layout.font);
    vec![
        PlacedPanel { right: middle - gap, ..whole },
        PlacedPanel { panel: differences, groups, left: middle + gap, right, top: layout.top },
    ]
}

/// The height of the picture.
fn whole_height(layout: &ForestLayout, picture: &FigurePicture) -> i32 {
    let lines = picture.lines.as_ref();
    let values =
        lines.map_or_else(|| layout.forest_height(picture), |all| lines_height(layout, all));
    let distribution = picture.distribution.as_ref();
    let distribution = distribution.map_or(0, |all| distribution_height(layout, all));
    layout.top + values + distribution + flows_height(layout, &picture.flows)
}

/// A figure as an SVG element, below notes of a line each.
///
/// # Errors
/// If the library cannot draw it, which does not happen with finite numbers.
pub(crate) fn forest(
    picture: &FigurePicture,
    size: PictureSize,
    notes: &[String],
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let layout = ForestLayout::new(picture, size, notes);
    let height = u32::try_from(whole_height(&layout, picture)).unwrap_or(0);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (size.width, height)).into_drawing_area();
        for (note, line) in notes.iter().zip(0..) {
            let at = (layout.font, layout.font + line * layout.font * 3 / 2);
            layout.text(&root, note, at, HPos::Left)?;
        }
        let below = match &picture.lines {
            Some(lines) => {
                draw_lines(&root, &layout, lines)?;
                layout.top + lines_height(&layout, lines)
            }
            None => {
                for (at, placed) in panels(&layout, picture).iter().enumerate() {
                    let has_names = at == 0 || layout.is_narrow();
                    draw_panel(&root, &layout, placed, has_names)?;
                }
                layout.top + layout.forest_height(picture)
            }
        };
        if let Some(distribution) = &picture.distribution {
            draw_distribution(&root, &layout, distribution, below)?;
        }
        // A figure of changes is a share, and so has no distribution.
        draw_flows(&root, &layout, &picture.flows, below)?;
        root.present().map_err(|e| e.to_string())?;
    }
    Ok(text)
}

fn draw_panel(
    root: &Area<'_>,
    layout: &ForestLayout,
    placed: &PlacedPanel<'_>,
    has_names: bool,
) -> Drawn {
    let PlacedPanel { panel, groups, left, right, top } = placed;
    let axis = &panel.axis;
    let x = |value: f64| left + pixel(axis.place(value) * f64::from(right - left));
    let below = top + i32::try_from(panel.rows.len()).unwrap_or(0) * layout.row;
    for (value, _) in &axis.ticks {
        let is_zero = axis.is_difference && *value == 0.0;
        let line = if is_zero { BLACK.mix(0.6) } else { BLACK.mix(0.12) };
        // A line for each row, beside its dot: the numbers below the dot stand on none.
        for at in 0..i32::try_from(panel.rows.len()).unwrap_or(0) {
            let begin = top + at * layout.row;
            let end = begin + layout.font * 3 / 2;
            let line = PathElement::new(vec![(x(*value), begin), (x(*value), end)], line);
            root.draw(&line).map_err(|e| e.to_string())?;
        }
    }
    for ((row, group), at) in panel.rows.iter().zip(*groups).zip(0..) {
        let y = top + at * layout.row + layout.font * 3 / 4;
        let small = y + layout.font * 5 / 4;
        if has_names {
            layout.text(root, &group.name, (layout.names, y), HPos::Right)?;
            layout.small(root, &group.counts, (layout.names, small), HPos::Right)?;
        }
        draw_row(root, layout, row, &x, y)?;
        let numbers = format!("{} {}", row.value_text, row.interval_text);
        let numbers = numbers.trim();
        let half = signed(u32::try_from(numbers.chars().count()).unwrap_or(0)) * layout.font / 5;
        let middle = row.value.map_or((left + right) / 2, &x);
        let middle = middle.clamp(left + half, (right - half).max(left + half));
        layout.small(root, numbers, (middle, small), HPos::Center)?;
    }
    // The axis of differences has the same whiskers.
    let has_intervals = !axis.is_difference && panel.rows.iter().any(|row| row.interval.is_some());
    let title = if has_intervals {
        format!("{}, with 95 % intervals", axis.name)
    } else {
        axis.name.to_owned()
    };
    draw_axis(root, layout, (axis, &title), (*left, *right, below), &x)
}

/// A dot with its interval, or the dots of its clusters.
fn draw_row(
    root: &Area<'_>,
    layout: &ForestLayout,
    row: &PictureRow,
    x: &dyn Fn(f64) -> i32,
    y: i32,
) -> Drawn {
    let radius = layout.font * 3 / 10;
    if let Some((low, high)) = row.interval {
        for line in [
            vec![(x(low), y), (x(high), y)],
            vec![(x(low), y - radius), (x(low), y + radius)],
            vec![(x(high), y - radius), (x(high), y + radius)],
        ] {
            let line = PathElement::new(line, colour(0).stroke_width(2));
            root.draw(&line).map_err(|e| e.to_string())?;
        }
    }
    for dot in &row.dots {
        root.draw(&Circle::new((x(*dot), y), radius, colour(0))).map_err(|e| e.to_string())?;
    }
    if let Some(value) = row.value {
        let dot = Circle::new((x(value), y), radius + 1, colour(0).filled());
        root.draw(&dot).map_err(|e| e.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use retold_figures::PictureAxis;
    use retold_figures::{
        DistributionRow, PictureBar, PictureDistribution, PictureFlow, PictureLine, PictureLines,
        PictureLink,
    };

    use super::*;

    fn picture(groups: usize) -> FigurePicture {
        let axis = |is_difference| PictureAxis {
            low: -1.0,
            high: 1.0,
            ticks: vec![(-1.0, "-1".to_owned()), (0.0, "0".to_owned()), (1.0, "1".to_owned())],
            is_difference,
            name: "mean",
        };
        let row = |at: usize| PictureRow {
            name: format!("<group {at}>"),
            counts: "n 4, 1 missing".to_owned(),
            value: Some(0.5),
            interval: Some((0.2, 0.8)),
            dots: Vec::new(),
            value_text: "0.500".to_owned(),
            interval_text: "[0.200, 0.800]".to_owned(),
        };
        let rows: Vec<PictureRow> = (0..groups).map(row).collect();
        let differences = Some(PicturePanel { rows: rows.clone(), axis: axis(true) });
        FigurePicture {
            values: PicturePanel { rows, axis: axis(false) },
            differences,
            distribution: None,
            lines: None,
            flows: Vec::new(),
        }
    }

    /// The places of the texts of a picture, in pixels.
    fn places(svg: &str) -> Vec<(f64, f64)> {
        let number = |tag: &str, name: &str| {
            let rest = tag.split(&format!(" {name}=\"")).nth(1).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        svg.split("<text").skip(1).map(|tag| (number(tag, "x"), number(tag, "y"))).collect()
    }

    #[test]
    fn everything_is_within_the_picture_in_every_size() {
        for size in [PictureSize::PAGE, PictureSize::NARROW, PictureSize::COLUMN] {
            let svg = forest(&picture(3), size, &["a note".to_owned()]).unwrap();
            let height: f64 =
                svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            for (x, y) in places(&svg) {
                assert!((0.0..f64::from(size.width)).contains(&x), "{size:?}: {x}");
                assert!((0.0..height).contains(&y), "{size:?}: {y} of {height}");
            }
            assert!(svg.contains("&lt;group 2&gt;") && !svg.contains("<group"), "{svg}");
        }
    }

    #[test]
    fn differences_stand_beside_the_groups_where_there_is_room() {
        let rows = |size| {
            let svg = forest(&picture(2), size, &[]).unwrap();
            svg.matches("&lt;group 1&gt;").count()
        };
        assert_eq!(
            [PictureSize::PAGE, PictureSize::COLUMN, PictureSize::NARROW].map(rows),
            [1, 1, 2]
        );
    }

    /// Four numbers of two groups, and the same groups in three rounds.
    fn with_numbers() -> FigurePicture {
        let whole = picture(2);
        let axis = whole.values.axis.clone();
        let bar = |low: f64, count| PictureBar {
            low,
            high: low + 0.4,
            name: low.to_string(),
            count,
            height: count as f64 / 4.0,
        };
        let rows = whole.values.rows.iter().map(|row| DistributionRow {
            name: row.name.clone(),
            bars: vec![bar(-0.8, 4), bar(-0.2, 0), bar(0.4, 1)],
            text: "median -0.6, half of them from -0.6 to -0.6".to_owned(),
        });
        let distribution = Some(PictureDistribution { rows: rows.collect(), axis: axis.clone() });
        let line = |row: &PictureRow| PictureLine {
            name: row.name.clone(),
            points: [1.0, 2.0, 3.0].map(|round| (round, row.clone())).into(),
        };
        let lines = Some(PictureLines {
            label: "round".to_owned(),
            rounds: vec![1.0, 2.0, 3.0],
            lines: whole.values.rows.iter().map(line).collect(),
            axis,
        });
        FigurePicture { distribution, lines, ..whole }
    }

    #[test]
    fn a_flow_is_within_the_picture_and_has_a_band_for_each_way() {
        let link = |first, last, count| PictureLink { first, last, count };
        let flow = |name: &str| PictureFlow {
            name: name.to_owned(),
            values: ["<park>", "schools and kindergartens of the whole city", "roads"]
                .map(str::to_owned)
                .into(),
            links: vec![link(0, 0, 12), link(0, 1, 1), link(1, 2, 3), link(2, 2, 0)],
        };
        let picture = FigurePicture { flows: vec![flow("acp"), flow("control")], ..picture(2) };
        for size in [PictureSize::PAGE, PictureSize::NARROW, PictureSize::COLUMN] {
            let svg = forest(&picture, size, &[]).unwrap();
            let height: f64 =
                svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            for (x, y) in places(&svg) {
                assert!((0.0..=f64::from(size.width)).contains(&x), "{size:?}: {x}");
                assert!((0.0..=height).contains(&y), "{size:?}: {y} of {height}");
            }
            assert_eq!(svg.matches("<polygon").count(), 6, "{svg}");
            assert!(svg.contains("acp: 12 stayed, 4 changed"), "{svg}");
            assert!(svg.contains("&lt;park&gt; (13)") && !svg.contains("<park"), "{svg}");
        }
    }

    #[test]
    fn bars_and_lines_are_within_the_picture_and_name_their_groups() {
        for size in [PictureSize::PAGE, PictureSize::NARROW, PictureSize::COLUMN] {
            let svg = forest(&with_numbers(), size, &[]).unwrap();
            let height: f64 =
                svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
            for (x, y) in places(&svg) {
                assert!((0.0..=f64::from(size.width)).contains(&x), "{size:?}: {x}");
                assert!((0.0..=height).contains(&y), "{size:?}: {y} of {height}");
            }
            // Two bars of each group: a bar of nothing is not drawn.
            assert_eq!(svg.matches("<rect").count(), 4, "{svg}");
            assert_eq!(svg.matches("&lt;group 1&gt;").count(), 2, "{svg}");
            assert!(svg.matches("<polyline").count() >= 2, "{svg}");
        }
    }
}
