//! Which values there are in each group, for a figure that names none: the share of each, or the mean of each option.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;

use super::counted::{Counted, GroupDraws};
use super::group::GroupValue;
use crate::ClusteredDraws;

/// The most different values that are shown.
const MOST: usize = 50;

/// How many of them an error names, and how much of each.
const NAMED: usize = 5;
const LONGEST: usize = 40;

/// The number that an answer has for a value that it does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unnamed {
    /// A share or points of 0.
    Zero,
    /// None: it is missing.
    Missing,
}

/// The values of a figure, by group and cluster.
#[derive(Debug, Default)]
pub(super) struct EachValue {
    names: BTreeSet<String>,
    groups: BTreeMap<Vec<GroupValue>, GroupValues>,
}

/// The values of one group.
#[derive(Debug, Default)]
struct GroupValues {
    clusters: BTreeMap<String, ClusterValues>,
    missing: u64,
    fallback: u64,
}

/// The values of one cluster.
#[derive(Debug, Default)]
struct ClusterValues {
    answers: u64,
    /// The sum of the numbers of each value, and how many answers name it.
    sums: BTreeMap<String, (f64, u64)>,
}

impl EachValue {
    /// Counts an answer with the number of each value that it names, unless there are too many different ones, of which
    /// only the number matters then.
    pub(super) fn add(
        &mut self,
        group: Vec<GroupValue>,
        cluster: &str,
        found: Counted<Vec<(String, f64)>>,
    ) {
        if self.names.len() > MOST {
            return;
        }
        let values = self.groups.entry(group).or_default();
        match found {
            Counted::Value(numbers) => {
                if !values.clusters.contains_key(cluster) {
                    values.clusters.insert(cluster.to_owned(), ClusterValues::default());
                }
                let Some(of_cluster) = values.clusters.get_mut(cluster) else { return };
                of_cluster.answers += 1;
                for (name, number) in numbers {
                    if !self.names.contains(&name) {
                        self.names.insert(name.clone());
                    }
                    let (sum, answers) = of_cluster.sums.entry(name).or_default();
                    *sum += number;
                    *answers += 1;
                }
            }
            Counted::Missing => values.missing += 1,
            Counted::Fallback => values.fallback += 1,
        }
    }

    /// How many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.groups.len() * self.names.len().max(1)
    }

    /// If there are too many different values: how many may be, and the first of these, as an error names them.
    pub(super) fn too_many(&self) -> Option<(usize, String)> {
        (self.names.len() > MOST).then(|| {
            let named = self.names.iter().take(NAMED);
            let named = named.map(|name| format!("\"{}\"", printable(name, LONGEST)));
            (MOST, named.collect::<Vec<_>>().join(", "))
        })
    }

    /// The draws of each value in each group. A value comes before the labels.
    pub(super) fn draws(self, unnamed: Unnamed) -> BTreeMap<Vec<GroupValue>, GroupDraws> {
        let mut all = BTreeMap::new();
        for (group, GroupValues { clusters, missing, fallback }) in self.groups {
            for name in &self.names {
                let (mut draws, mut missing) = (ClusteredDraws::default(), missing);
                for (cluster, ClusterValues { answers, sums }) in &clusters {
                    let (sum, named) = sums.get(name).copied().unwrap_or_default();
                    let counted = match unnamed {
                        Unnamed::Zero => *answers,
                        Unnamed::Missing => named,
                    };
                    missing += answers - counted.min(*answers);
                    if counted > 0 {
                        draws.add_all(cluster, sum, counted as f64);
                    }
                }
                let value = GroupValue::Label(name.clone());
                let group = std::iter::once(value).chain(group.iter().cloned()).collect();
                all.insert(group, GroupDraws { draws, missing, fallback, ..GroupDraws::default() });
            }
        }
        all
    }
}
