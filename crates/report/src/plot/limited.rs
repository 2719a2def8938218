//! Limits how many groups of a plot are drawn: a picture of hundreds of bars cannot be read.

use retold::counted::group_digits;
use retold_study::charts::{Chart, ChartData};

use super::lines::MOST_SERIES;
use crate::MOST_GROUPS;

/// A plot with no more groups than can be read.
pub(crate) struct LimitedChart {
    /// The plot.
    pub(crate) chart: Chart,
    /// The number of groups, and their name in the plural; `None` if all are drawn.
    all: Option<(usize, &'static str)>,
}

impl LimitedChart {
    /// A note on the groups that are left out; `None` if all are drawn. `run` names the run.
    pub(crate) fn left_out(&self, run: &str) -> Option<String> {
        let (all, what) = self.all?;
        let (drawn, all) =
            (group_digits(self.chart.data.groups() as u64), group_digits(all as u64));
        Some(format!(
            "The plot shows {drawn} of {all} {what}. `retold report {run} -o FILE.html` links to all of them, as CSV."
        ))
    }
}

/// A plot as it is drawn: the first groups, or those with the greatest counts. Matrices and graphs of any number of names
/// fit into a picture of one size.
pub(crate) fn limit(chart: &Chart) -> LimitedChart {
    let mut drawn = chart.clone();
    let (most, what) = match &mut drawn.data {
        ChartData::Estimates { rows, .. } => {
            rows.truncate(MOST_GROUPS);
            (MOST_GROUPS, "values")
        }
        ChartData::Bars { bars, .. } => {
            *bars = greatest(bars, |(_, value)| *value);
            (MOST_GROUPS, "bars, the longest")
        }
        ChartData::Stacked { bars, .. } => {
            *bars = greatest(bars, |(_, values)| values.iter().sum());
            (MOST_GROUPS, "bars, the longest")
        }
        ChartData::Flow { links, .. } => {
            *links = greatest(links, |(_, _, count)| f64::from(*count));
            (MOST_GROUPS, "transitions, the most frequent")
        }
        ChartData::Lines { series, .. } => {
            series.truncate(MOST_SERIES);
            (MOST_SERIES, "lines")
        }
        ChartData::Points { groups, .. } => {
            groups.truncate(MOST_SERIES);
            (MOST_SERIES, "groups")
        }
        ChartData::Matrix { .. } | ChartData::Graph { .. } => (usize::MAX, "names"),
    };
    let all = chart.data.groups();
    LimitedChart { chart: drawn, all: (all > most).then_some((all, what)) }
}

/// Those with the greatest values, in their order.
fn greatest<T: Clone>(all: &[T], value: impl Fn(&T) -> f64) -> Vec<T> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|one, other| value(&all[*other]).total_cmp(&value(&all[*one])));
    places.truncate(MOST_GROUPS);
    places.sort_unstable();
    places.into_iter().map(|at| all[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use retold_study::charts::{ChartAxis, EstimateRow};

    use super::*;
    use crate::plot::svg;

    fn many(count: usize) -> [ChartData; 6] {
        let name = |at: usize| format!("name {at}");
        let each = || (0..count).map(move |at| (name(at), at as f64));
        let axis = "answers".to_owned();
        let row = |(name, value): (String, f64)| {
            let value = Some(value / count as f64);
            EstimateRow { name, value, interval: None, dots: Vec::new(), draws: 1 }
        };
        let links = each().zip(1..).map(|((name, _), n)| (name.clone(), name, n));
        [
            ChartData::Estimates {
                axis: ChartAxis::share("share"),
                rows: each().map(row).collect(),
            },
            ChartData::Bars { axis: axis.clone(), bars: each().collect() },
            ChartData::Stacked {
                axis,
                parts: vec!["a".to_owned()],
                bars: each().map(|(name, value)| (name, vec![value])).collect(),
            },
            ChartData::Flow { from: String::new(), to: String::new(), links: links.collect() },
            ChartData::Lines {
                x: "x".to_owned(),
                y: ChartAxis::number("y"),
                series: each().map(|(name, value)| (name, vec![(0.0, value)])).collect(),
            },
            ChartData::Points {
                x: "x".to_owned(),
                y: "y".to_owned(),
                groups: each().map(|(name, value)| (name, vec![[0.0, value]])).collect(),
            },
        ]
    }

    #[test]
    fn a_plot_has_at_most_thirty_groups_and_says_what_it_leaves_out() {
        let chart = |data| Chart { name: "test".to_owned(), title: "Test".to_owned(), data };
        for data in many(1_234) {
            let found = limit(&chart(data));
            let drawn = found.chart.data.groups();
            assert!((18..=30).contains(&drawn), "{drawn}");
            let said = found.left_out("7a7a").unwrap();
            assert!(said.starts_with(&format!("The plot shows {drawn} of 1,234 ")), "{said}");
            assert!(said.contains("`retold report 7a7a -o FILE.html`"), "{said}");
            let svg = svg(&found.chart).unwrap();
            let height = svg.split(" height=\"").nth(1).unwrap().split('"').next().unwrap();
            assert!(height.parse::<u32>().unwrap() < 760, "{height}");
        }
        for data in many(18) {
            let found = limit(&chart(data.clone()));
            assert!(found.chart.data == data && found.left_out("7a7a").is_none());
        }
    }

    #[test]
    fn the_longest_bars_stay_in_their_order() {
        let bars = (0..40).map(|at| (at.to_string(), f64::from(at % 20)));
        let data = ChartData::Bars { axis: "answers".to_owned(), bars: bars.collect() };
        let found = limit(&Chart { name: "test".to_owned(), title: "Test".to_owned(), data });
        let ChartData::Bars { bars, .. } = found.chart.data else { panic!("they are bars") };
        let names: Vec<usize> = bars.iter().map(|(name, _)| name.parse().unwrap()).collect();
        let expected: Vec<usize> = (5..20).chain(25..40).collect();
        assert_eq!(names, expected);
    }
}
