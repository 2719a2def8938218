//! Which groups of a figure are compared.

use std::collections::BTreeMap;

/// The most groups along one label of which all are compared with each other; of more, each is compared with the first.
const ALL_PAIRS: usize = 4;

/// Groups that differ in the last of so many labels alone or, where there are several, in the run alone, which comes
/// after the labels. With `each_value`, a value comes before them, which is not compared: the shares of all values add up to one.
pub(super) fn compared_groups<V: Ord + Clone, T>(
    groups: &BTreeMap<Vec<V>, T>,
    labels: usize,
    each_value: bool,
    is_several: bool,
) -> Vec<(Vec<V>, Vec<V>)> {
    let before = usize::from(each_value);
    let along = labels.checked_sub(1).into_iter().chain(is_several.then_some(labels));
    let along = along.map(|label| before + label);
    let mut pairs = Vec::new();
    for along in along {
        let mut alike: BTreeMap<Vec<&V>, Vec<&Vec<V>>> = BTreeMap::new();
        for group in groups.keys() {
            let others = group.iter().enumerate().filter(|(at, _)| *at != along);
            alike.entry(others.map(|(_, value)| value).collect()).or_default().push(group);
        }
        for groups in alike.values() {
            let firsts = if groups.len() <= ALL_PAIRS { groups.len() } else { 1 };
            for first in 0..firsts {
                for other in &groups[first + 1..] {
                    pairs.push((groups[first].clone(), (*other).clone()));
                }
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of groups, each as `one-other`.
    fn pairs(groups: &[&str], labels: usize, is_several: bool) -> Vec<String> {
        let group = |text: &&str| (text.split(' ').map(str::to_owned).collect(), ());
        let groups: BTreeMap<Vec<String>, ()> = groups.iter().map(group).collect();
        let pairs = compared_groups(&groups, labels, false, is_several);
        pairs.iter().map(|(one, other)| format!("{}-{}", one.join(" "), other.join(" "))).collect()
    }

    #[test]
    fn groups_are_compared_along_the_last_label_and_the_run() {
        assert_eq!(pairs(&["a", "b", "c"], 1, false), ["a-b", "a-c", "b-c"]);
        assert_eq!(pairs(&["1 a", "1 b", "2 a"], 2, false), ["1 a-1 b"]);
        assert_eq!(pairs(&["a x", "a y", "b x"], 1, true), ["a x-b x", "a x-a y"]);
        assert_eq!(pairs(&["x", "y"], 0, true), ["x-y"]);
        assert_eq!(pairs(&["a", "b", "c", "d", "e"], 1, false), ["a-b", "a-c", "a-d", "a-e"]);
        assert_eq!(pairs(&["a", "b"], 0, false), Vec::<String>::new());
        let values: BTreeMap<Vec<&str>, ()> =
            [["no", "a"], ["no", "b"], ["yes", "a"]].map(|group| (group.into(), ())).into();
        let found = compared_groups(&values, 1, true, false);
        assert_eq!(found, [(vec!["no", "a"], vec!["no", "b"])]);
    }
}
