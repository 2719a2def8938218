//! The numbers of each group, as bars over one axis.

use super::PictureAxis;
use super::axis::{PictureUnit, round_step};
use crate::words::number;
use crate::{FigureGroup, FigureKind, FigureTable, ValueCount};

/// The most numbers that have a bar each. More are counted in bins.
const MOST_VALUES: usize = 12;

/// About how many bins there are.
const BINS: f64 = 16.0;

/// How the numbers of groups are spread.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureDistribution {
    /// The groups that have numbers, from top to bottom.
    pub rows: Vec<DistributionRow>,
    /// The axis below them.
    pub axis: PictureAxis,
}

/// The numbers of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct DistributionRow {
    /// The name of the group.
    pub name: String,
    /// The bars, from left to right: as many in each group.
    pub bars: Vec<PictureBar>,
    /// The numbers in words: `median 4, half of them from 3 to 5`.
    pub text: String,
}

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureBar {
    /// Where it begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// The number, or the ends of the bin.
    pub name: String,
    /// How many numbers it stands for.
    pub count: u64,
    /// Its height: 1 for the highest of all groups, whose heights are shares of their numbers.
    pub height: f64,
}

impl FigureTable {
    /// How its numbers are spread; `None` of shares, and if no group has different ones.
    pub fn distribution(&self) -> Option<PictureDistribution> {
        let groups: Vec<&FigureGroup> =
            self.groups.iter().filter(|group| !group.values.is_empty()).collect();
        groups.iter().find(|group| group.values.len() > 1)?;
        let bins = Bins::over(groups.iter().flat_map(|group| &group.values))?;
        let share = |group: &FigureGroup, count: u64| {
            count as f64 / group.values.iter().map(|it| it.count).sum::<u64>() as f64
        };
        let counts: Vec<Vec<u64>> = groups.iter().map(|group| bins.counts(&group.values)).collect();
        let shares = groups.iter().zip(&counts);
        let shares = shares.flat_map(|(group, all)| all.iter().map(|count| share(group, *count)));
        let highest = shares.fold(0.0, f64::max);
        let row = |(group, counts): (&&FigureGroup, &Vec<u64>)| DistributionRow {
            name: self.title_of(&group.group),
            bars: bins
                .bars
                .iter()
                .zip(counts)
                .map(|((low, high, name), count)| PictureBar {
                    low: *low,
                    high: *high,
                    name: name.clone(),
                    count: *count,
                    height: share(group, *count) / highest,
                })
                .collect(),
            text: spread_text(&group.values),
        };
        let rows = groups.iter().zip(&counts).map(row).collect();
        let axis = bins.axis(groups.iter().flat_map(|group| &group.values));
        Some(PictureDistribution { rows, axis })
    }
}

/// The bars of a distribution.
struct Bins {
    /// Where bars begin and end, and their names.
    bars: Vec<(f64, f64, String)>,
    /// Whether each is of a whole number.
    are_whole: bool,
}

impl Bins {
    fn over<'a>(values: impl Iterator<Item = &'a ValueCount>) -> Option<Self> {
        let mut all: Vec<ValueCount> = values.copied().collect();
        all.sort_by(|one, other| one.low.total_cmp(&other.low));
        all.dedup_by(|one, other| one.low == other.low && one.high == other.high);
        let (first, last) = (all.first()?.low, all.last()?.high);
        if all.len() <= MOST_VALUES && all.iter().all(|it| it.low == it.high) {
            let gaps = all.windows(2).map(|pair| pair[1].low - pair[0].low);
            let half = gaps.fold(f64::INFINITY, f64::min) * 0.4;
            let half = if half.is_finite() { half } else { 0.4 };
            let bin = |it: &ValueCount| (it.low - half, it.low + half, short(it.low));
            let are_whole = all.iter().all(|it| it.low.fract() == 0.0);
            return Some(Bins { bars: all.iter().map(bin).collect(), are_whole });
        }
        let step = round_step((last - first) / BINS);
        let begin = (first / step).floor();
        let bins = (0..64).map(|n| (begin + f64::from(n)) * step).take_while(|low| *low <= last);
        let bin = |low: f64| (low, low + step, format!("{} to {}", short(low), short(low + step)));
        Some(Bins { bars: bins.map(bin).collect(), are_whole: false })
    }

    /// An axis whose numbers are those of the values: a bar around 0 has room to its left, and nothing there has a number.
    fn axis<'a>(&self, values: impl Iterator<Item = &'a ValueCount>) -> PictureAxis {
        let ends = values.flat_map(|it| [it.low, it.high]);
        let over = PictureAxis::over(ends, PictureUnit::Number);
        let low = self.bars.iter().map(|(low, ..)| *low).fold(over.low, f64::min);
        let high = self.bars.iter().map(|(_, high, _)| *high).fold(over.high, f64::max);
        let mut ticks = over.ticks;
        if self.are_whole {
            ticks.retain(|(value, _)| value.fract() == 0.0);
            ticks.iter_mut().for_each(|(value, text)| *text = format!("{value:.0}"));
        }
        PictureAxis { name: "values", low, high, ticks, ..over }
    }

    fn counts(&self, values: &[ValueCount]) -> Vec<u64> {
        let mut counts = vec![0; self.bars.len()];
        for value in values {
            let at = self.bars.partition_point(|(low, ..)| *low <= value.middle());
            if let Some(count) = counts.get_mut(at.saturating_sub(1)) {
                *count += value.count;
            }
        }
        counts
    }
}

/// A number at a bar: without zeros that say nothing.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The median and the quartiles, by nearest rank.
fn spread_text(values: &[ValueCount]) -> String {
    let all: u64 = values.iter().map(|it| it.count).sum();
    let at = |quarters: u64| {
        let rank = (all * quarters).div_ceil(4).max(1);
        let mut before = 0;
        let found = values.iter().find(|it| {
            before += it.count;
            before >= rank
        });
        found.map_or_else(String::new, |it| match it.low == it.high {
            true => short(it.low),
            false => number(FigureKind::Mean, it.middle()),
        })
    };
    format!("median {}, half of them from {} to {}", at(2), at(1), at(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[(f64, u64)]) -> Vec<ValueCount> {
        values.iter().map(|(at, count)| ValueCount { low: *at, high: *at, count: *count }).collect()
    }

    #[test]
    fn a_scale_has_a_bar_for_each_of_its_numbers() {
        let values = counts(&[(1.0, 3), (2.0, 1), (7.0, 4)]);
        let bins = Bins::over(values.iter()).unwrap();
        let names: Vec<&str> = bins.bars.iter().map(|(.., name)| name.as_str()).collect();
        assert_eq!((names, bins.counts(&values)), (vec!["1", "2", "7"], vec![3, 1, 4]));
        assert_eq!(spread_text(&values), "median 2, half of them from 1 to 7");
    }

    #[test]
    fn the_axis_of_numbers_from_0_on_has_none_below_0() {
        let values = counts(&[(0.0, 5), (1.0, 1), (2.0, 4)]);
        let axis = Bins::over(values.iter()).unwrap().axis(values.iter());
        assert!((axis.low, axis.high) == (-0.4, 2.4), "{axis:?}");
        let texts: Vec<&str> = axis.ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["0", "1", "2"]);
        let values: Vec<(f64, u64)> = (0..40_u32).map(|n| (f64::from(n), 2)).collect();
        let values = counts(&values);
        let axis = Bins::over(values.iter()).unwrap().axis(values.iter());
        assert!(axis.low == 0.0 && axis.high >= 39.0, "{axis:?}");
    }

    #[test]
    fn many_numbers_are_in_bins_of_round_numbers() {
        let values: Vec<(f64, u64)> = (0..40_u32).map(|n| (f64::from(n) * 2.5, 2)).collect();
        let values = counts(&values);
        let bins = Bins::over(values.iter()).unwrap();
        let counted = bins.counts(&values);
        assert_eq!(counted.iter().sum::<u64>(), 80);
        assert_eq!((bins.bars[0].2.as_str(), counted[0]), ("0 to 10", 8));
        assert!((8..=22).contains(&counted.len()), "{counted:?}");
    }
}
