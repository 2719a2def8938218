//! Figures as people read them, in the terminal, on the page and in reports.

use crate::{DifferenceTest, ExpectedInterval, FigureKind, Interval};

/// A value: `40.00 %`, `1.250`.
pub(crate) fn number(kind: FigureKind, value: f64) -> String {
    match kind {
        FigureKind::Share | FigureKind::Proportion => format!("{:.2} %", 100.0 * value),
        FigureKind::Mean => decimal(value),
    }
}

/// A number with three decimals: more if it is near zero, and as a power of ten where digits would not be read.
fn decimal(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 1e9 || size > 0.0 && size < 1e-6 => format!("{value:.3e}"),
        _ if size > 0.0 && size < 0.01 => format!("{value:.6}"),
        _ => format!("{value:.3}"),
    }
}

/// The same with its sign.
fn signed_decimal(value: f64) -> String {
    match value.abs() {
        size if (1e-6..0.01).contains(&size) => with_sign(value, 6),
        size if size < 1e9 && (size >= 0.01 || size == 0.0) => with_sign(value, 3),
        _ => format!("{value:+.3e}"),
    }
}

/// Values side by side: `20.00 %, 40.00 %`.
pub(crate) fn dots(kind: FigureKind, values: &[f64]) -> String {
    values.iter().map(|value| number(kind, *value)).collect::<Vec<_>>().join(", ")
}

/// The ends of an interval: `[31.00, 49.00]`; of a difference, with their signs.
pub(crate) fn ends(kind: FigureKind, Interval { low, high, .. }: Interval, signed: bool) -> String {
    let end = |value: f64| match (kind, signed) {
        (FigureKind::Mean, false) => decimal(value),
        (FigureKind::Mean, true) => signed_decimal(value),
        (_, false) => format!("{:.2}", 100.0 * value),
        (_, true) => with_sign(100.0 * value, 2),
    };
    format!("[{}, {}]", end(low), end(high))
}

/// A difference: `+3.00 percentage points`, `-0.250`.
pub(crate) fn points(kind: FigureKind, difference: f64) -> String {
    match kind {
        FigureKind::Share | FigureKind::Proportion => {
            format!("{} percentage points", unitless_points(kind, difference))
        }
        FigureKind::Mean => unitless_points(kind, difference),
    }
}

/// A difference where its unit stands elsewhere: `+3.00`, `-0.250`.
pub(crate) fn unitless_points(kind: FigureKind, difference: f64) -> String {
    match kind {
        FigureKind::Share | FigureKind::Proportion => with_sign(100.0 * difference, 2),
        FigureKind::Mean => signed_decimal(difference),
    }
}

/// A number with its sign. What rounds to nothing is `+0.00`, from whichever side.
fn with_sign(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => format!("+{zero}"),
        _ => text,
    }
}

impl ExpectedInterval {
    /// The value in the model run: `40.00 %`; a dash without draws.
    pub fn value_text(&self) -> String {
        self.value.map_or_else(|| "-".to_owned(), |value| number(self.kind, value))
    }

    /// Half a width of its interval: `±25.95 points` (percentage points), `±0.250`; a dash without one.
    pub fn half_width_text(&self, half_width: Option<f64>) -> String {
        match (half_width, self.kind) {
            (None, _) => "-".to_owned(),
            (Some(half), FigureKind::Mean) => format!("±{half:.3}"),
            (Some(half), _) => format!("±{:.2} points", 100.0 * half),
        }
    }
}

impl DifferenceTest {
    /// `p = 0.0123`; of several tests also `(Holm for 3 tests: 0.0369)`.
    pub fn text(&self) -> String {
        let DifferenceTest { p, p_holm, tests } = *self;
        let raw = match p {
            p if p < 0.0001 => "p < 0.0001".to_owned(),
            p => format!("p = {p:.4}"),
        };
        let corrected = match p_holm {
            p if p < 0.0001 => "< 0.0001".to_owned(),
            p => format!("{p:.4}"),
        };
        match tests {
            1 => raw,
            tests => format!("{raw} (Holm for {tests} tests: {corrected})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_can_be_read() {
        let shown = [0.0, 1.25, -12.0, 0.004_56, 1.234e-7, 5e9].map(decimal);
        assert_eq!(shown, ["0.000", "1.250", "-12.000", "0.004560", "1.234e-7", "5.000e9"]);
        assert_eq!([0.5, -0.5].map(signed_decimal), ["+0.500", "-0.500"]);
    }

    #[test]
    fn nothing_has_one_sign() {
        assert_eq!(points(FigureKind::Share, -1e-9), "+0.00 percentage points");
        assert_eq!(points(FigureKind::Share, -0.0001), "-0.01 percentage points");
        assert_eq!(points(FigureKind::Mean, -0.0), "+0.000");
        assert_eq!(points(FigureKind::Mean, -10.0), "-10.000");
    }
}
