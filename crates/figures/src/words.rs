//! Figures as people read them, in the terminal, on the page and in reports.

use std::collections::BTreeSet;

use retold::counted::count_of;

use crate::{
    ComparedFigure, DifferenceTest, Estimate, ExpectedInterval, FEWEST_CLUSTERS, FigureKind,
    Interval, NarrowInterval,
};

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
            format!("{} percentage points", with_sign(100.0 * difference, 2))
        }
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

/// What to know about the differences between two runs with different seeds; `None` if they have the same seed.
pub fn other_seed(one: u64, other: u64) -> Option<String> {
    (one != other).then(|| {
        format!(
            "the seeds differ ({one} and {other}), so participants with the same name may be different people: \
             the differences are unpaired"
        )
    })
}

/// What to know about the differences of several runs from a first one; `None` if all have its seed.
pub fn other_seeds(first: u64, others: &[u64]) -> Option<String> {
    let differing: Vec<u64> = others.iter().copied().filter(|seed| *seed != first).collect();
    match (differing.as_slice(), others) {
        ([], _) => None,
        ([other], [_]) => other_seed(first, *other),
        (differing, _) => Some(format!(
            "{} with a seed other than that of the first run ({first}), so lanes with the same name may be different \
             people: these differences are unpaired",
            count_of(differing.len() as u64, "run")
        )),
    }
}

/// What to know about intervals that may be too narrow, each reason once.
pub fn narrow_intervals<'a>(figures: impl IntoIterator<Item = &'a Estimate>) -> Vec<&'static str> {
    let reasons: BTreeSet<NarrowInterval> =
        figures.into_iter().filter_map(|figure| figure.narrow).collect();
    reasons.into_iter().map(NarrowInterval::as_str).collect()
}

impl Estimate {
    /// Its value: `40.00 %`.
    pub fn value_text(&self) -> String {
        self.value.map_or_else(|| "no draws".to_owned(), |value| number(self.kind, value))
    }

    /// Its interval: `[31.00, 49.00]`; empty without one.
    pub fn interval_text(&self) -> String {
        self.interval.map_or_else(String::new, |interval| ends(self.kind, interval, false))
    }

    /// How the interval was computed, and over which clusters; or why there is none, with the means of the clusters.
    pub fn sampling_text(&self) -> String {
        match self.interval {
            Some(interval) => format!("{} over {}", interval.method.as_str(), self.unit),
            None if self.draws == 0 => "none: there are no draws".to_owned(),
            None if self.dots.is_empty() => "none: all clusters have the same mean".to_owned(),
            None if self.dots.len() == 1 => {
                format!("none with fewer than {FEWEST_CLUSTERS} {}", self.unit)
            }
            None => format!(
                "none with fewer than {FEWEST_CLUSTERS} {}; each has {}",
                self.unit,
                dots(self.kind, &self.dots)
            ),
        }
    }

    /// Both: `40.00 % [31.00, 49.00]`.
    pub fn text(&self) -> String {
        format!("{} {}", self.value_text(), self.interval_text()).trim_end().to_owned()
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

impl ComparedFigure {
    /// The difference: `+3.00 percentage points`; `None` without one.
    pub fn difference_text(&self) -> Option<String> {
        self.difference.map(|difference| points(self.one.kind, difference))
    }

    /// The interval of the difference: `[-1.00, +7.00]`; empty without one.
    pub fn interval_text(&self) -> String {
        self.interval.map_or_else(String::new, |interval| ends(self.one.kind, interval, true))
    }

    /// Why the difference has no interval; `None` if it has one, or if there is no difference.
    pub fn no_interval(&self) -> Option<&'static str> {
        match (self.difference, self.interval) {
            (None, _) | (_, Some(_)) => None,
            _ if self.clusters < FEWEST_CLUSTERS => Some("no interval with fewer than 5 clusters"),
            _ => Some("no interval: nothing varies"),
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

    #[test]
    fn other_seeds_are_counted() {
        assert_eq!(other_seeds(1, &[1, 1]), None);
        assert_eq!(other_seeds(1, &[2]), other_seed(1, 2));
        let said = other_seeds(1, &[1, 2, 3]).unwrap();
        assert!(
            said.starts_with("2 runs with a seed other than that of the first run (1)"),
            "{said}"
        );
    }
}
