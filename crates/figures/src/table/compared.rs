//! Which groups of a figure are compared.

use std::collections::BTreeMap;

/// The most groups along one label of which all are compared with each other if there is no baseline.
const ALL_PAIRS: usize = 4;

/// The groups of a figure that are compared.
#[derive(Debug, PartialEq)]
pub(super) struct GroupPairs<V> {
    /// The first and the second group of each difference.
    pub(super) pairs: Vec<(Vec<V>, Vec<V>)>,
    /// True if groups are too many to be compared without a baseline.
    pub(super) lacks_baseline: bool,
}

/// Groups that differ in the last of so many labels alone or, where there are several, in the run alone, which comes
/// after the labels. The first run is the baseline of the others, and so is a group with the value `baseline` of the last
/// label. With `each_value`, a value comes before the labels, which is not compared: the shares of all values add up to one.
pub(super) fn compared_groups<V: Ord + Clone, T>(
    groups: &BTreeMap<Vec<V>, T>,
    labels: usize,
    each_value: bool,
    is_several: bool,
    baseline: Option<&dyn Fn(&V) -> bool>,
) -> GroupPairs<V> {
    let before = usize::from(each_value);
    let last = labels.checked_sub(1).map(|label| before + label);
    let run = is_several.then_some(before + labels);
    let (mut pairs, mut lacks_baseline) = (Vec::new(), false);
    for along in last.into_iter().chain(run) {
        let mut alike: BTreeMap<Vec<&V>, Vec<&Vec<V>>> = BTreeMap::new();
        for group in groups.keys() {
            let others = group.iter().enumerate().filter(|(at, _)| *at != along);
            alike.entry(others.map(|(_, value)| value).collect()).or_default().push(group);
        }
        for groups in alike.into_values() {
            let is_of_runs = Some(along) == run;
            let of_label = baseline.filter(|_| !is_of_runs);
            let firsts: Vec<usize> = match of_label {
                Some(is_it) => {
                    groups.iter().position(|group| is_it(&group[along])).into_iter().collect()
                }
                None if groups.len() <= ALL_PAIRS => (0..groups.len()).collect(),
                None if is_of_runs => vec![0],
                None => Vec::new(),
            };
            lacks_baseline |= firsts.is_empty() && of_label.is_none();
            for first in firsts {
                let others = (0..groups.len())
                    .filter(|at| *at > first || of_label.is_some() && *at != first);
                pairs.extend(others.map(|at| (groups[first].clone(), groups[at].clone())));
            }
        }
    }
    GroupPairs { pairs, lacks_baseline }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of groups, each as `one-other`, with `b` as the baseline or none.
    fn with_baseline(
        groups: &[&str],
        labels: usize,
        is_several: bool,
        has_one: bool,
    ) -> Vec<String> {
        let group = |text: &&str| (text.split(' ').map(str::to_owned).collect(), ());
        let groups: BTreeMap<Vec<String>, ()> = groups.iter().map(group).collect();
        let is_it = |value: &String| value == "b";
        let baseline: Option<&dyn Fn(&String) -> bool> = has_one.then_some(&is_it);
        let found = compared_groups(&groups, labels, false, is_several, baseline);
        let pair = |(one, other): &(Vec<String>, Vec<String>)| {
            format!("{}-{}", one.join(" "), other.join(" "))
        };
        let lacking = found.lacks_baseline.then(|| "lacking".to_owned());
        found.pairs.iter().map(pair).chain(lacking).collect()
    }

    fn pairs(groups: &[&str], labels: usize, is_several: bool) -> Vec<String> {
        with_baseline(groups, labels, is_several, false)
    }

    #[test]
    fn a_baseline_is_compared_with_each_other_group_whatever_their_order() {
        let five = ["a", "b", "c", "d", "e"];
        assert_eq!(with_baseline(&five, 1, false, true), ["b-a", "b-c", "b-d", "b-e"]);
        assert_eq!(pairs(&five, 1, false), ["lacking"], "the alphabet chooses none");
        let two_days = with_baseline(&["1 a", "1 b", "2 a"], 2, false, true);
        assert_eq!(two_days, ["1 b-1 a"], "without it, there is no difference");
        assert_eq!(with_baseline(&["a x", "a y", "b x"], 1, true, true), ["b x-a x", "a x-a y"]);
        let runs = ["a 1", "a 2", "a 3", "a 4", "a 5"];
        assert_eq!(pairs(&runs, 1, true), ["a 1-a 2", "a 1-a 3", "a 1-a 4", "a 1-a 5"]);
    }

    #[test]
    fn groups_are_compared_along_the_last_label_and_the_run() {
        assert_eq!(pairs(&["a", "b", "c"], 1, false), ["a-b", "a-c", "b-c"]);
        assert_eq!(pairs(&["1 a", "1 b", "2 a"], 2, false), ["1 a-1 b"]);
        assert_eq!(pairs(&["a x", "a y", "b x"], 1, true), ["a x-b x", "a x-a y"]);
        assert_eq!(pairs(&["x", "y"], 0, true), ["x-y"]);
        assert_eq!(pairs(&["a", "b"], 0, false), Vec::<String>::new());
        let values: BTreeMap<Vec<&str>, ()> =
            [["no", "a"], ["no", "b"], ["yes", "a"]].map(|group| (group.into(), ())).into();
        let found = compared_groups(&values, 1, true, false, None);
        assert_eq!(found.pairs, [(vec!["no", "a"], vec!["no", "b"])]);
    }
}
