//! Values whose right one is known, call by call.

use std::collections::BTreeMap;

use super::counted::Counted;
use super::group::GroupValue;
use crate::definition::Grade;

/// The samples of one call.
#[derive(Debug, Default)]
struct GradedCall {
    cluster: String,
    /// By value: how many samples have it, and whether it is right.
    values: BTreeMap<String, (u64, bool)>,
}

/// A run and a call in it.
pub(super) type CallOfRun = (GroupValue, String);

/// The samples of calls, by group and call.
#[derive(Debug, Default)]
pub(super) struct GradedCalls(BTreeMap<(Vec<GroupValue>, CallOfRun), GradedCall>);

impl GradedCalls {
    /// Adds a sample.
    pub(super) fn add(
        &mut self,
        group: Vec<GroupValue>,
        call: CallOfRun,
        cluster: String,
        value: String,
        is_right: bool,
    ) {
        let of = self
            .0
            .entry((group, call))
            .or_insert_with(|| GradedCall { cluster, values: BTreeMap::new() });
        of.values.entry(value).or_insert((0, is_right)).0 += 1;
    }

    /// The draw of each call, with its group and cluster. A call with too few samples is missing.
    pub(super) fn draws(
        self,
        grade: Grade,
    ) -> impl Iterator<Item = (Vec<GroupValue>, String, Counted<f64>)> {
        self.0.into_iter().map(move |((group, _), GradedCall { cluster, values })| {
            let counts: Vec<(u64, bool)> = values.into_values().collect();
            let all = counts.iter().map(|(count, _)| count).sum();
            let right =
                counts.iter().filter(|(_, is_right)| *is_right).map(|(count, _)| count).sum();
            let draw = match grade {
                Grade::Accuracy => Some(right as f64 / all as f64),
                Grade::PassAt(samples) => pass_at(samples, all, right),
                Grade::Majority => Some(majority(&counts)),
            };
            (group, cluster, draw.map_or(Counted::Missing, Counted::Value))
        })
    }
}

/// How often at least one of `samples` is right, if so many of `all` are: 1 - C(all - right, samples) / C(all, samples), as a
/// product. `None` if there are too few.
fn pass_at(samples: u64, all: u64, right: u64) -> Option<f64> {
    if all < samples {
        return None;
    }
    // Of so few wrong ones, no draw is without a right one.
    if all - right < samples {
        return Some(1.0);
    }
    let none = ((all - right + 1)..=all).map(|i| 1.0 - samples as f64 / i as f64);
    Some(1.0 - none.product::<f64>())
}

/// 1 if the commonest value is right, 0 if it is not; if several are equally common, the share of them that is right.
fn majority(counts: &[(u64, bool)]) -> f64 {
    let most = counts.iter().map(|(count, _)| *count).max().unwrap_or(0);
    let commonest = counts.iter().filter(|(count, _)| *count == most);
    let right = commonest.clone().filter(|(_, is_right)| *is_right).count();
    right as f64 / commonest.count().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pass_at_is_the_share_of_draws_with_a_right_sample() {
        // Of 5 samples, 2 are right: of the 10 pairs, 3 have none.
        let near = |found: Option<f64>, due: f64| (found.unwrap() - due).abs() < 1e-12;
        assert!(near(pass_at(2, 5, 2), 0.7));
        assert!(near(pass_at(1, 10, 3), 0.3));
        // C(7, 4) / C(10, 4) = 35 / 210.
        assert!(near(pass_at(4, 10, 3), 1.0 - 35.0 / 210.0));
        assert!(near(pass_at(3, 10, 0), 0.0));
        assert_eq!(
            [pass_at(4, 5, 2), pass_at(5, 5, 5), pass_at(6, 5, 5)],
            [Some(1.0), Some(1.0), None]
        );
    }

    #[test]
    fn the_commonest_value_counts_and_a_tie_is_shared() {
        assert_eq!(majority(&[(3, true), (2, false)]), 1.0);
        assert_eq!(majority(&[(2, true), (3, false)]), 0.0);
        assert_eq!(majority(&[(2, true), (2, false), (1, false)]), 0.5);
        assert_eq!(majority(&[(1, false), (1, true), (1, false)]), 1.0 / 3.0);
    }
}
