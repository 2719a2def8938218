//! Axes, and the numbers at them.

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{Area, Drawn, LEFT, WIDTH, write};

/// How the numbers at an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberStyle {
    /// Shares, in per cent.
    Share,
    /// Counts, of which there are no fractions.
    Whole,
    /// Any numbers.
    Plain,
}

impl NumberStyle {
    /// That of some values.
    pub(super) fn of(is_share: bool, mut values: impl Iterator<Item = f64>) -> Self {
        match is_share {
            true => NumberStyle::Share,
            false if values.all(|value| value.fract() == 0.0) => NumberStyle::Whole,
            false => NumberStyle::Plain,
        }
    }

    /// A number at an axis: `25 %`, `12`, `0.25`.
    pub(super) fn tick(self, value: f64) -> String {
        match self {
            NumberStyle::Share => format!("{} %", number(100.0 * value)),
            NumberStyle::Whole | NumberStyle::Plain => number(value),
        }
    }

    /// A value, as the tables have it: `57.14 %`, `12`, `0.25`.
    pub(super) fn value(self, value: f64) -> String {
        match self {
            NumberStyle::Share => format!("{:.2} %", 100.0 * value),
            NumberStyle::Whole | NumberStyle::Plain => number(value),
        }
    }
}

/// The pixel of a value on an axis from 0 to `most`.
#[expect(clippy::cast_possible_truncation, reason = "a place in the picture")]
pub(super) fn across(value: f64, most: f64) -> i32 {
    let room = f64::from(WIDTH) - f64::from(LEFT) - 90.0;
    LEFT + (room * (value / most.max(1e-12)).clamp(0.0, 1.0)).round() as i32
}

/// The numbers at an axis from 0 to `most`: of counts, whole ones.
fn ticks(most: f64, style: NumberStyle) -> Vec<f64> {
    if style != NumberStyle::Whole {
        return (0..=4).map(|tick| most * f64::from(tick) / 4.0).collect();
    }
    // The smallest of 1, 2, 5, 10, 20, .. with which there are at most five steps.
    let powers = (0..=15).map(|power| 10.0_f64.powi(power));
    let steps = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * power));
    let step = steps.clone().find(|step| most / step <= 5.0).unwrap_or(most);
    (0..=5).map(|tick| step * f64::from(tick)).take_while(|value| *value <= most).collect()
}

/// An axis from 0 to `most`, with its name.
pub(super) fn axis_below(
    root: &Area<'_>,
    name: &str,
    most: f64,
    style: NumberStyle,
    below: i32,
) -> Drawn {
    let ends = vec![(across(0.0, most), below), (across(most, most), below)];
    root.draw(&PathElement::new(ends, BLACK)).map_err(|e| e.to_string())?;
    for value in ticks(most, style) {
        let at = across(value, most);
        root.draw(&PathElement::new(vec![(at, below), (at, below + 4)], BLACK))
            .map_err(|e| e.to_string())?;
        write(root, &style.tick(value), (at, below + 13), HPos::Center)?;
    }
    write(root, name, ((LEFT + across(most, most)) / 2, below + 30), HPos::Center)
}

/// A number in few digits.
pub(super) fn number(value: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_whole_ticks() {
        let whole = |most| ticks(most, NumberStyle::Whole);
        assert_eq!(whole(1.0), [0.0, 1.0]);
        assert_eq!(whole(3.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(whole(6.0), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(whole(1234.0), [0.0, 500.0, 1000.0]);
        assert_eq!(whole(0.0), [0.0]);
        assert_eq!(ticks(1.0, NumberStyle::Plain), [0.0, 0.25, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn shares_are_in_per_cent_as_in_tables() {
        let style = NumberStyle::of(true, [1.0].into_iter());
        let shown: Vec<String> =
            ticks(1.0, style).into_iter().map(|tick| style.tick(tick)).collect();
        assert_eq!(shown, ["0 %", "25 %", "50 %", "75 %", "100 %"]);
        assert_eq!(style.value(4.0 / 7.0), "57.14 %");
    }
}
