//! The axis of a picture, with few round numbers.

/// What the values of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PictureUnit {
    /// Shares from 0 to 1, written in per cent.
    Share,
    /// Differences of shares, written in percentage points.
    Points,
    /// Numbers in a unit of their own.
    Number,
    /// Differences of these.
    SignedNumber,
}

impl PictureUnit {
    fn name(self) -> &'static str {
        match self {
            PictureUnit::Share => "share",
            PictureUnit::Points => "difference, in percentage points",
            PictureUnit::Number => "mean",
            PictureUnit::SignedNumber => "difference of means",
        }
    }
}

/// An axis from one round number to another.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureAxis {
    /// Where it begins.
    pub low: f64,
    /// Where it ends; greater than `low`.
    pub high: f64,
    /// The numbers at it, from `low` to `high`.
    pub ticks: Vec<(f64, String)>,
    /// True if it is of differences, so that 0 is marked.
    pub is_difference: bool,
    /// The name of what it is of: `share`, `difference in percentage points`.
    pub name: &'static str,
}

impl PictureAxis {
    /// An axis on which these values have their places. Shares begin at 0, and so do numbers that are not far from it; an
    /// axis of differences has 0 on it.
    pub(super) fn over(values: impl Iterator<Item = f64>, unit: PictureUnit) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let is_difference = matches!(unit, PictureUnit::Points | PictureUnit::SignedNumber);
        let (low, high) = match unit {
            PictureUnit::Share if high > 0.5 => (0.0, 1.0),
            PictureUnit::Share => (0.0, high),
            PictureUnit::Number if low >= 0.0 && low <= 0.7 * high => (0.0, high),
            PictureUnit::Number => (low, high),
            PictureUnit::Points | PictureUnit::SignedNumber => (low.min(0.0), high.max(0.0)),
        };
        // A single number has some room on both sides, if there is anything on both.
        let room = if low == 0.0 { 0.1 } else { low.abs() * 0.1 };
        let (low, high) = match unit {
            _ if low < high => (low, high),
            PictureUnit::Share => (low, high + room),
            _ => (low - room, high + room),
        };
        let step = step_over(high - low);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let steps = (0..=6).map(|n| first + f64::from(n)).take_while(|n| *n <= last);
        let ticks = steps.map(|n| (n * step, tick(n * step, step, unit))).collect();
        let name = unit.name();
        PictureAxis { low: first * step, high: last * step, ticks, is_difference, name }
    }

    /// Where a value is, from 0 at the beginning to 1 at the end.
    pub fn place(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// The smallest of 1, 2, 2.5, 5, 10, 20, … with which a span has at most four steps.
fn step_over(span: f64) -> f64 {
    round_step(span / 4.0)
}

/// The smallest of 1, 2, 2.5, 5, 10, 20, … that is not smaller than a step, but for rounding.
pub(super) fn round_step(least: f64) -> f64 {
    let power = 10.0_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * power);
    steps.into_iter().find(|step| least / step <= 1.0 + 1e-9).unwrap_or(10.0 * power)
}

/// A number at an axis, with as many digits as its steps need: `25 %`, `+0.5`, `12`.
fn tick(value: f64, step: f64, unit: PictureUnit) -> String {
    let scale = match unit {
        PictureUnit::Share | PictureUnit::Points => 100.0,
        PictureUnit::Number | PictureUnit::SignedNumber => 1.0,
    };
    let (value, step) = (value * scale, step * scale);
    let is_exact = |digits: &usize| {
        let shifted = step * 10.0_f64.powi(i32::try_from(*digits).unwrap_or(0));
        (shifted - shifted.round()).abs() < 1e-6 * shifted.abs()
    };
    let digits = (0..12).find(is_exact).unwrap_or(12);
    let value = if value.abs() < step * 1e-9 { 0.0 } else { value };
    match unit {
        PictureUnit::Share => format!("{value:.digits$} %"),
        PictureUnit::Number => format!("{value:.digits$}"),
        PictureUnit::Points | PictureUnit::SignedNumber if value == 0.0 => "0".to_owned(),
        PictureUnit::Points | PictureUnit::SignedNumber => format!("{value:+.digits$}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(values: &[f64], unit: PictureUnit) -> Vec<String> {
        let axis = PictureAxis::over(values.iter().copied(), unit);
        axis.ticks.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn axes_have_few_round_numbers() {
        assert_eq!(
            texts(&[0.4, 0.7], PictureUnit::Share),
            ["0 %", "25 %", "50 %", "75 %", "100 %"]
        );
        assert_eq!(texts(&[0.012, 0.035], PictureUnit::Share), ["0 %", "1 %", "2 %", "3 %", "4 %"]);
        assert_eq!(texts(&[12.25, 15.0], PictureUnit::Number), ["12", "13", "14", "15"]);
        assert_eq!(texts(&[3.0, 15.0], PictureUnit::Number), ["0", "5", "10", "15"]);
        assert_eq!(texts(&[-0.02, 0.13], PictureUnit::Points), ["-5", "0", "+5", "+10", "+15"]);
        assert_eq!(texts(&[-6.0], PictureUnit::SignedNumber), ["-6", "-4", "-2", "0"]);
        assert_eq!(texts(&[0.0], PictureUnit::Number), ["-0.10", "-0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(
            texts(&[0.0], PictureUnit::Share),
            ["0.0 %", "2.5 %", "5.0 %", "7.5 %", "10.0 %"]
        );
        assert_eq!(texts(&[], PictureUnit::Share), ["0 %", "25 %", "50 %", "75 %", "100 %"]);
    }

    proptest! {
        #[test]
        fn every_value_has_a_place(values in proptest::collection::vec(-1e9..1e9_f64, 1..9)) {
            for unit in [PictureUnit::Number, PictureUnit::SignedNumber] {
                let axis = PictureAxis::over(values.iter().copied(), unit);
                prop_assert!((2..=7).contains(&axis.ticks.len()), "{:?}", axis);
                for value in &values {
                    let slack = 1e-9 * (axis.high - axis.low);
                    prop_assert!(axis.low - slack <= *value && *value <= axis.high + slack);
                }
            }
        }
    }
}
