//! The headline figures of a run, with intervals, and their differences between two runs.
//!
//! A figure is the mean of draws. Draws come in lanes (a participant, a puzzle), and lanes in
//! clusters: lanes of one cluster are not independent of each other, such as the players of one
//! game. So an interval depends on how the figure was sampled ([`Interval::method`]):
//!
//! - **Wilson**, for a share of which every draw is a cluster of its own (one vote per participant);
//! - **cluster bootstrap** otherwise: clusters are drawn with replacement, seeded by the figure's
//!   name, and the interval is between the percentiles of the figure in the resampled runs;
//! - **none** with fewer than two clusters, since one society is one draw, however many agents it
//!   has; and if nothing varies: where all clusters have the same mean, or the same difference between
//!   two runs, every resampled run has the same figure, and a bootstrap would take that for certainty.
//!
//! All intervals are for 95 %.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::difference::{by_cluster, interval_between};
use crate::draws::ClusteredDraws;
use crate::interval::{Interval, bootstrap, wilson};
use crate::merged::Sums;

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

/// A figure in two runs, and its difference: in the lanes that both have if these are pairs, otherwise of all draws.
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
    /// The clusters of these lanes; without pairs, the smaller number of clusters of the two runs.
    pub clusters: u64,
    /// The second figure minus the first one, over these lanes; without pairs, over all draws.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, if one can be given: not if nothing varies. Paired lanes are kept together with
    /// their counterparts, so what both runs share cancels out.
    pub interval: Option<Interval>,
}

impl Figure {
    /// Its draws by cluster.
    pub(crate) fn by_cluster(&self) -> ClusteredDraws {
        let drawn = self.draws.iter().filter(|draws| draws.count > 0);
        by_cluster(drawn.map(|draws| (&*draws.cluster, draws.sum, f64::from(draws.count))))
    }

    /// The interval of draws of this figure.
    pub(crate) fn interval_of(&self, draws: &ClusteredDraws) -> Option<Interval> {
        let (sum, count) = draws.total();
        match (self.kind, draws.are_independent()) {
            (FigureKind::Share, true) => wilson(sum, count),
            _ => draws.bootstrap(&self.name),
        }
    }

    /// Its value and interval.
    pub fn estimate(&self) -> Estimate {
        let drawn = self.draws.iter().filter(|draws| draws.count > 0);
        let clusters = self.by_cluster();
        let interval = self.interval_of(&clusters);
        let lanes: u64 = drawn.clone().count() as u64;
        Estimate {
            name: self.name.clone(),
            pointer: self.pointer.clone(),
            kind: self.kind,
            unit: self.unit,
            value: clusters.mean(),
            draws: drawn.map(|draws| u64::from(draws.count)).sum(),
            lanes,
            clusters: clusters.clusters(),
            interval,
        }
    }

    /// Its difference from the same figure in another run.
    fn compare(&self, other: Option<&Figure>, pairing: Pairing) -> ComparedFigure {
        let nothing = ComparedFigure {
            one: self.estimate(),
            other: other.map(Figure::estimate),
            pairing,
            lanes: 0,
            lanes_changed: 0,
            clusters: 0,
            difference: None,
            interval: None,
        };
        match (other, pairing) {
            (None, _) => nothing,
            (Some(other), Pairing::Lanes) => self.compare_lanes(other, nothing),
            (Some(other), Pairing::Strangers) => self.compare_strangers(other, nothing),
        }
    }

    /// The difference between strangers.
    fn compare_strangers(&self, other: &Figure, found: ComparedFigure) -> ComparedFigure {
        let (one, other) = (self.by_cluster(), other.by_cluster());
        ComparedFigure {
            clusters: one.clusters().min(other.clusters()),
            difference: other.mean().zip(one.mean()).map(|(other, one)| other - one),
            interval: interval_between(self.kind, &self.name, &one, &other),
            ..found
        }
    }

    /// The difference over the lanes that both runs have.
    fn compare_lanes(&self, other: &Figure, found: ComparedFigure) -> ComparedFigure {
        let lane = |draws: &Draws| (draws.count > 0).then(|| (draws.lane.clone(), draws.clone()));
        let theirs: BTreeMap<String, Draws> = other.draws.iter().filter_map(lane).collect();
        let mut clusters: BTreeMap<&str, Sums<4>> = BTreeMap::new();
        let (mut lanes, mut lanes_changed) = (0, 0);
        for ours in self.draws.iter().filter(|draws| draws.count > 0) {
            let Some(theirs) = theirs.get(&ours.lane) else { continue };
            lanes += 1;
            let (n, m) = (f64::from(ours.count), f64::from(theirs.count));
            lanes_changed += u64::from((ours.sum / n - theirs.sum / m).abs() > 1e-12);
            let sums = clusters.entry(&ours.cluster).or_default();
            for (all, more) in sums.iter_mut().zip([ours.sum, n, theirs.sum, m]) {
                *all += more;
            }
        }
        let sums: Vec<Sums<4>> = clusters.into_values().collect();
        let difference = |[a, n, b, m]: Sums<4>| (n > 0.0 && m > 0.0).then(|| b / m - a / n);
        let mut all = Sums::default();
        for sums in &sums {
            all.iter_mut().zip(sums).for_each(|(all, more)| *all += more);
        }
        let interval = bootstrap(&self.name, &sums, difference);
        let clusters = sums.len() as u64;
        ComparedFigure {
            lanes,
            lanes_changed,
            clusters,
            difference: difference(all),
            interval,
            ..found
        }
    }
}

/// The figures of two runs side by side, in the order of the first run; figures that only the
/// second run has are left out.
pub fn compared_figures(one: &[Figure], other: &[Figure], pairing: Pairing) -> Vec<ComparedFigure> {
    let twin = |figure: &Figure| other.iter().find(|other| other.name == figure.name);
    one.iter().map(|figure| figure.compare(twin(figure), pairing)).collect()
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
        assert_eq!(found.interval.unwrap().method, IntervalMethod::Wilson);
        let nested = [("a", "a", 3.0, 4), ("b", "b", 0.0, 4)];
        let found = figure(FigureKind::Share, &nested).estimate();
        assert_eq!((found.value, found.draws), (Some(0.375), 8));
        assert_eq!(found.interval.unwrap().method, IntervalMethod::ClusterBootstrap);
        let society = [("a", "all", 1.0, 1), ("b", "all", 0.0, 1)];
        assert_eq!(figure(FigureKind::Share, &society).estimate().interval, None);
        let alike = [("a", "a", 0.0, 4), ("b", "b", 0.0, 2)];
        let found = figure(FigureKind::Share, &alike).estimate();
        assert_eq!((found.value, found.interval), (Some(0.0), None));
        assert_eq!(figure(FigureKind::Mean, &[]).estimate().value, None);
    }

    fn pairs(one: &[Figure], other: &[Figure]) -> Vec<ComparedFigure> {
        compared_figures(one, other, Pairing::Lanes)
    }

    #[test]
    fn lanes_of_strangers_are_not_paired() {
        assert_eq!(Pairing::of_seeds(7, 7), Pairing::Lanes);
        let one = figure(FigureKind::Share, &[("a", "a", 0.0, 1), ("b", "b", 1.0, 1)]);
        let other = figure(FigureKind::Share, &[("a", "a", 1.0, 1), ("b", "b", 1.0, 1)]);
        let pairing = Pairing::of_seeds(7, 8);
        let found = compared_figures(std::slice::from_ref(&one), &[other], pairing).remove(0);
        assert_eq!((found.pairing, found.lanes, found.lanes_changed), (Pairing::Strangers, 0, 0));
        assert_eq!((found.difference, found.clusters), (Some(0.5), 2));
        let interval = found.interval.unwrap();
        assert_eq!(interval.method, IntervalMethod::Newcombe);
        assert!(interval.low < 0.0, "two draws each say little: {interval:?}");
        let society = |value| figure(FigureKind::Mean, &[("a", "all", value, 1)]);
        let found = compared_figures(&[society(1.0)], &[society(2.0)], pairing).remove(0);
        assert_eq!((found.difference, found.interval), (Some(1.0), None));
        assert_eq!(found.no_interval(), Some("no interval with a single cluster"));
        let alike = |value| figure(FigureKind::Mean, &[("a", "a", value, 1), ("b", "b", value, 1)]);
        let found = compared_figures(&[alike(1.0)], &[alike(2.0)], pairing).remove(0);
        assert_eq!(found.no_interval(), Some("no interval: nothing varies within the runs"));
    }

    #[test]
    fn lanes_that_both_runs_have_are_paired() {
        let one = figure(
            FigureKind::Share,
            &[("a", "a", 0.0, 1), ("b", "b", 1.0, 1), ("c", "c", 1.0, 1)],
        );
        let other = figure(
            FigureKind::Share,
            &[("a", "a", 1.0, 1), ("b", "b", 1.0, 1), ("d", "d", 1.0, 1)],
        );
        let found = &pairs(std::slice::from_ref(&one), &[other])[0];
        assert_eq!((found.lanes, found.lanes_changed, found.difference), (2, 1, Some(0.5)));
        let interval = found.interval.unwrap();
        assert_eq!((interval.low, interval.high), (0.0, 1.0));
        let same = &pairs(std::slice::from_ref(&one), std::slice::from_ref(&one))[0];
        assert_eq!((same.difference, same.interval), (Some(0.0), None), "nothing varies");
        assert_eq!(same.no_interval(), Some("no interval: nothing varies between the runs"));
        assert_eq!(found.no_interval(), None);
        // Everyone changes in the same way.
        let all = |value: f64| {
            let draws: Vec<_> = ["a", "b", "c"].map(|lane| (lane, lane, value, 1)).into();
            figure(FigureKind::Mean, &draws)
        };
        let found = &pairs(&[all(1.0)], &[all(1.1)])[0];
        assert_eq!((found.lanes_changed, found.clusters, found.interval), (3, 3, None));
        assert_eq!(found.no_interval(), Some("no interval: the difference is the same everywhere"));
        let one = figure(FigureKind::Mean, &[("a", "a", 1.0, 1)]);
        let other = figure(FigureKind::Mean, &[("a", "a", 2.0, 1)]);
        let found = &pairs(std::slice::from_ref(&one), &[other])[0];
        assert_eq!(found.no_interval(), Some("no interval with a single cluster"));
        assert_eq!(pairs(&[one], &[])[0].other, None);
    }
}
