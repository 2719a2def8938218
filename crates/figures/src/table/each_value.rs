//! Which values there are in each group, for a figure that names none: the share of each.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;
use serde_json::Value;

use super::counted::{Counted, GroupDraws};
use super::group::GroupValue;
use super::value_name::name_of;
use crate::ClusteredDraws;

/// The most different values whose shares are shown.
const MOST: usize = 20;

/// How many of them an error names, and how much of each.
const NAMED: usize = 5;
const LONGEST: usize = 40;

/// The values of a figure, by group and cluster.
#[derive(Debug, Default)]
pub(super) struct EachValue {
    names: BTreeSet<String>,
    groups: BTreeMap<Vec<GroupValue>, GroupValues>,
}

/// The values of one group.
#[derive(Debug, Default)]
struct GroupValues {
    /// By cluster, how often each value occurs.
    clusters: BTreeMap<String, BTreeMap<String, u64>>,
    missing: u64,
    fallback: u64,
}

impl EachValue {
    /// Counts a value, unless there are too many different ones, of which only the number matters then.
    pub(super) fn add(&mut self, group: Vec<GroupValue>, cluster: &str, found: Counted<&Value>) {
        if self.names.len() > MOST {
            return;
        }
        let values = self.groups.entry(group).or_default();
        match found {
            Counted::Value(value) => {
                let name = name_of(value);
                if !self.names.contains(&name) {
                    self.names.insert(name.clone());
                }
                if !values.clusters.contains_key(cluster) {
                    values.clusters.insert(cluster.to_owned(), BTreeMap::new());
                }
                if let Some(of_cluster) = values.clusters.get_mut(cluster) {
                    *of_cluster.entry(name).or_default() += 1;
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

    /// The share of each value in each group: all draws of a group count in each. A value comes before the labels.
    pub(super) fn shares(self) -> BTreeMap<Vec<GroupValue>, GroupDraws> {
        let mut shares = BTreeMap::new();
        for (group, GroupValues { clusters, missing, fallback }) in self.groups {
            for name in &self.names {
                let mut draws = ClusteredDraws::default();
                for (cluster, values) in &clusters {
                    let hits = values.get(name).copied().unwrap_or(0);
                    let all: u64 = values.values().sum();
                    draws.add_all(cluster, hits as f64, all as f64);
                }
                let value = GroupValue::Label(name.clone());
                let group = std::iter::once(value).chain(group.iter().cloned()).collect();
                shares.insert(group, GroupDraws { draws, missing, fallback });
            }
        }
        shares
    }
}
