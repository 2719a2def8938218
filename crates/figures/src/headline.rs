//! The headline figures of a run, with intervals, and their differences between two runs.
//!
//! A figure is the mean of draws. Draws come in lanes (a participant, a puzzle), and lanes in
//! clusters: lanes of one cluster are not independent of each other, such as the players of one
//! game. Intervals and differences are those of any figure: see [`ClusteredDraws`] and [`difference()`].

use std::collections::BTreeMap;

use serde::Serialize;

use crate::difference::{DifferenceTest, GroupDifference, correct, difference};
use crate::draws::ClusteredDraws;
use crate::interval::{Interval, NarrowInterval};

/// How a figure is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// A share of draws, from 0 to 1.
    Share,
    /// A mean that is a proportion of something, from 0 to 1, though each draw may be any number.
    Proportion,
    /// A mean in a unit of its own.
    Mean,
}

/// The draws of one lane.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draws {
    /// The lane.
    pub lane: String,
    /// The cluster of the lane.
    pub cluster: String,
    /// The sum of its draws.
    pub sum: f64,
    /// How many draws there are.
    pub count: u32,
}

/// A figure that a study leads with.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The name, for people.
    pub name: String,
    /// Where the study's report has the same number, if it has it: a JSON pointer.
    pub pointer: Option<String>,
    /// How it is read.
    pub kind: FigureKind,
    /// The kind of cluster, in the plural, and why one of them is not independent within itself:
    /// `games: the players of a game react to each other`.
    pub unit: &'static str,
    /// The draws of which it is the mean.
    pub draws: Vec<Draws>,
}

/// A figure's value and interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure's name.
    pub name: String,
    /// Where the study's report has the same number, if it has it.
    pub pointer: Option<String>,
    /// How it is read.
    pub kind: FigureKind,
    /// The kind of cluster, and why: see [`Figure::unit`].
    pub unit: &'static str,
    /// The mean of all draws; `None` without draws.
    pub value: Option<f64>,
    /// Draws.
    pub draws: u64,
    /// Lanes with draws.
    pub lanes: u64,
    /// Clusters.
    pub clusters: u64,
    /// The 95 % interval, if one can be given.
    pub interval: Option<Interval>,
    /// The means of the clusters, where they are too few for an interval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dots: Vec<f64>,
    /// Why the interval may be too narrow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrow: Option<NarrowInterval>,
}

/// Whether lanes with the same name are the same thing in two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pairing {
    /// They are, as in runs with one seed, or in a run whose answers were parsed again.
    Lanes,
    /// They are strangers: the draws of the two runs are independent.
    Strangers,
}

impl Pairing {
    /// That of two runs of an experiment with these seeds: others were drawn with another seed.
    pub fn of_seeds(one: u64, other: u64) -> Self {
        if one == other { Pairing::Lanes } else { Pairing::Strangers }
    }

    /// The heading of differences.
    pub fn difference(self) -> &'static str {
        match self {
            Pairing::Lanes => "difference, paired",
            Pairing::Strangers => "difference, unpaired",
        }
    }
}

/// A figure in two runs, and its difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// The figure in the first run.
    pub one: Estimate,
    /// The figure in the second run; `None` if the second run has no such figure.
    pub other: Option<Estimate>,
    /// Whether lanes with the same name are paired.
    pub pairing: Pairing,
    /// Paired lanes that have draws in both runs.
    pub lanes: u64,
    /// In how many of these the two differ.
    pub lanes_changed: u64,
    /// The smaller number of clusters of the two runs.
    pub clusters: u64,
    /// The second figure minus the first one.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, if one can be given: not if nothing varies. What paired lanes have in common
    /// cancels out.
    pub interval: Option<Interval>,
    /// The test of the difference, if it has an interval.
    pub test: Option<DifferenceTest>,
}

impl Figure {
    /// Its draws by cluster.
    pub(crate) fn by_cluster(&self) -> ClusteredDraws {
        self.by_named_cluster(|draws| draws.cluster.clone())
    }

    fn by_named_cluster(&self, name: impl Fn(&Draws) -> String) -> ClusteredDraws {
        let mut clustered = ClusteredDraws::default();
        for draws in self.draws.iter().filter(|draws| draws.count > 0) {
            clustered.add_all(&name(draws), draws.sum, f64::from(draws.count));
        }
        clustered
    }

    /// Its value and interval.
    pub fn estimate(&self) -> Estimate {
        let clusters = self.by_cluster();
        Estimate {
            name: self.name.clone(),
            pointer: self.pointer.clone(),
            kind: self.kind,
            unit: self.unit,
            value: clusters.mean(),
            draws: clusters.count(),
            lanes: self.draws.iter().filter(|draws| draws.count > 0).count() as u64,
            clusters: clusters.clusters(),
            interval: clusters.interval(self.kind),
            dots: clusters.dots(self.kind),
            narrow: clusters.narrow_interval(self.kind),
        }
    }

    /// Its difference from the same figure in another run.
    fn compare(&self, other: Option<&Figure>, pairing: Pairing) -> ComparedFigure {
        let (lanes, lanes_changed) = match pairing {
            Pairing::Lanes => other.map_or((0, 0), |other| self.count_lanes(other)),
            Pairing::Strangers => (0, 0),
        };
        let one = self.by_cluster();
        let ours: BTreeMap<&str, &str> =
            self.draws.iter().map(|draws| (draws.lane.as_str(), draws.cluster.as_str())).collect();
        let compared = other.map(|other| {
            // A lane that both runs have is in one cluster in both.
            let other = other.by_named_cluster(|draws| match pairing {
                Pairing::Lanes => (*ours.get(&*draws.lane).unwrap_or(&&*draws.cluster)).to_owned(),
                Pairing::Strangers => format!("other run/{}", draws.cluster),
            });
            let clusters = one.clusters().min(other.clusters());
            (clusters, difference(self.kind, &one, &other, true))
        });
        let clusters = compared.as_ref().map_or(0, |(clusters, _)| *clusters);
        let found = compared.map(|(_, found)| found);
        ComparedFigure {
            one: self.estimate(),
            other: other.map(Figure::estimate),
            pairing,
            lanes,
            lanes_changed,
            clusters,
            difference: found.as_ref().and_then(|found: &GroupDifference| found.difference),
            interval: found.as_ref().and_then(|found| found.interval),
            test: found.and_then(|found| found.test),
        }
    }

    /// How many lanes have draws in both runs, and in how many of these the means differ.
    fn count_lanes(&self, other: &Figure) -> (u64, u64) {
        let mean = |draws: &Draws| draws.sum / f64::from(draws.count);
        let drawn = other.draws.iter().filter(|draws| draws.count > 0);
        let theirs: BTreeMap<&str, f64> =
            drawn.map(|draws| (draws.lane.as_str(), mean(draws))).collect();
        let drawn = self.draws.iter().filter(|draws| draws.count > 0);
        let both = drawn.filter_map(|ours| Some(mean(ours) - theirs.get(&*ours.lane)?));
        both.fold((0, 0), |(lanes, changed), difference| {
            (lanes + 1, changed + u64::from(difference.abs() > 1e-12))
        })
    }
}

/// The figures of two runs side by side, in the order of the first run; figures that only the
/// second run has are left out.
pub fn compared_figures(one: &[Figure], other: &[Figure], pairing: Pairing) -> Vec<ComparedFigure> {
    let twin = |figure: &Figure| other.iter().find(|other| other.name == figure.name);
    let mut compared: Vec<ComparedFigure> =
        one.iter().map(|figure| figure.compare(twin(figure), pairing)).collect();
    correct(compared.iter_mut().filter_map(|figure| figure.test.as_mut()));
    compared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntervalMethod;

    fn figure(kind: FigureKind, draws: &[(&str, &str, f64, u32)]) -> Figure {
        let draws = draws.iter().map(|(lane, cluster, sum, count)| Draws {
            lane: (*lane).to_owned(),
            cluster: (*cluster).to_owned(),
            sum: *sum,
            count: *count,
        });
        let (name, draws) = ("share".to_owned(), draws.collect());
        Figure { name, pointer: None, kind, unit: "things: they are alike", draws }
    }

    #[test]
    fn the_interval_follows_from_how_draws_are_clustered() {
        let single = [("a", "a", 1.0, 1), ("b", "b", 0.0, 1), ("c", "c", 0.0, 0)];
        let found = figure(FigureKind::Share, &single).estimate();
        assert_eq!((found.value, found.draws, found.clusters), (Some(0.5), 2, 2));
        assert_eq!(found.interval.unwrap().method, IntervalMethod::ClopperPearson);
        let nested = [("a", "a", 3.0, 4), ("b", "b", 0.0, 4)];
        let found = figure(FigureKind::Share, &nested).estimate();
        assert_eq!((found.value, found.draws), (Some(0.375), 8));
        assert_eq!((found.interval, found.dots), (None, vec![0.0, 0.75]));
        let society = [("a", "all", 1.0, 1), ("b", "all", 0.0, 1)];
        assert_eq!(figure(FigureKind::Share, &society).estimate().interval, None);
        assert_eq!(figure(FigureKind::Mean, &[]).estimate().value, None);
    }

    fn pairs(one: &[Figure], other: &[Figure]) -> Vec<ComparedFigure> {
        compared_figures(one, other, Pairing::Lanes)
    }

    /// A mean of numbers that are clusters of their own.
    fn numbers(values: &[f64]) -> Figure {
        let names: Vec<String> = (0..values.len()).map(|at| at.to_string()).collect();
        let draws: Vec<_> = names.iter().zip(values).map(|(n, v)| (&**n, &**n, *v, 1)).collect();
        figure(FigureKind::Mean, &draws)
    }

    #[test]
    fn lanes_of_strangers_are_not_paired() {
        assert_eq!(Pairing::of_seeds(7, 7), Pairing::Lanes);
        let pairing = Pairing::of_seeds(7, 8);
        let of = |one: &[f64], other: &[f64]| {
            compared_figures(&[numbers(one)], &[numbers(other)], pairing).remove(0)
        };
        let found = of(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!((found.pairing, found.lanes, found.lanes_changed), (pairing, 0, 0));
        assert_eq!((found.difference, found.clusters), (Some(1.0), 5));
        // scipy.stats.ttest_ind of these: two groups of one size have the degrees of freedom of both.
        assert!((found.test.unwrap().p - 0.346_593_507_087).abs() < 1e-9, "{found:?}");
        let found = of(&[1.0], &[2.0]);
        assert_eq!((found.difference, found.interval), (Some(1.0), None));
        assert_eq!(found.no_interval(), Some("no interval with fewer than 5 clusters"));
        let found = of(&[1.0; 5], &[2.0; 5]);
        assert_eq!(found.no_interval(), Some("no interval: nothing varies"));
    }

    #[test]
    fn lanes_that_both_runs_have_are_paired() {
        let (one, other) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 2.0, 4.0, 5.0, 5.0, 8.0]);
        let found = &pairs(&[numbers(&one)], &[numbers(&other)])[0];
        assert_eq!((found.lanes, found.lanes_changed, found.clusters), (6, 4, 6));
        // scipy.stats.ttest_rel of these.
        let test = found.test.unwrap();
        assert!((test.p - 0.042_193_996_705_5).abs() < 1e-9, "{test:?}");
        assert_eq!((test.tests, found.no_interval()), (1, None));
        let same = &pairs(&[numbers(&one)], &[numbers(&one)])[0];
        assert_eq!((same.difference, same.interval), (Some(0.0), None), "nothing varies");
        // Everyone changes in the same way.
        let all = &pairs(&[numbers(&[1.0; 5])], &[numbers(&[1.1; 5])])[0];
        assert_eq!((all.lanes_changed, all.interval), (5, None));
        assert_eq!(all.no_interval(), Some("no interval: nothing varies"));
        assert_eq!(pairs(&[numbers(&one)], &[])[0].other, None);
    }

    /// The difference is that of the two values beside it, whatever lanes the runs have.
    #[test]
    fn figures_that_are_compared_together_are_corrected_together() {
        let (one, other) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 2.0, 4.0, 5.0, 5.0]);
        let second = Figure { name: "second".to_owned(), ..numbers(&one) };
        let twin = Figure { name: "second".to_owned(), ..numbers(&other) };
        let found = pairs(&[numbers(&one), second], &[numbers(&other), twin]);
        assert_eq!(found[0].difference, Some(3.6 - 3.5));
        let test = found[1].test.unwrap();
        assert_eq!((test.tests, test.p_holm), (2, (2.0 * test.p).min(1.0)));
    }
}
